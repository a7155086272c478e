package gossip

import "github.com/vmihailenco/msgpack/v5/msgpcode"

// skip passes over fields that a later version may have added.
func (d *decoder) skip(n int) {
	if n < 0 {
		d.fail("fields")
	}
	for ; n > 0 && d.err == nil; n-- {
		d.skipValue(0)
	}
}

// skipValue passes over one value, without going deeper than any frame of ours does:
// msgpack's own Skip would follow a megabyte of nested arrays down.
func (d *decoder) skipValue(depth int) {
	c, err := d.dec.PeekCode()
	d.keep("field", err)
	switch {
	case d.err != nil:
	case depth > 8, msgpcode.IsExt(c), msgpcode.IsFixedExt(c):
		d.fail("field of a kind that no version uses")
	case msgpcode.IsFixedArray(c), c == msgpcode.Array16, c == msgpcode.Array32:
		for n := d.array(1); n > 0 && d.err == nil; n-- {
			d.skipValue(depth + 1)
		}
	case msgpcode.IsFixedMap(c), c == msgpcode.Map16, c == msgpcode.Map32:
		n, err := d.dec.DecodeMapLen()
		d.keep("map", err)
		if n < 0 || n > d.r.Len() {
			d.fail("map length")
		}
		for n *= 2; n > 0 && d.err == nil; n-- {
			d.skipValue(depth + 1)
		}
	case msgpcode.IsBin(c), msgpcode.IsString(c):
		d.bin()
	default:
		d.keep("field", d.dec.Skip())
	}
}

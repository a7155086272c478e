package statefile

import "encoding/binary"

// First bytes of items.
const (
	itemLimit    = 1
	itemRegister = 2
	itemOpen     = 3 // a register that is open
	itemPart     = 4
	itemRow      = 0x80
)

// Fields of a row, in its first byte.
const (
	hasAt = 1 << iota
	hasRem
	hasCount0
	hasCount1
	hasCount2
	hasLog
	hasLimit
)

func appendLimit(buf []byte, l Limit) []byte {
	buf = append(buf, itemLimit)
	buf = binary.LittleEndian.AppendUint64(buf, l.ID)
	return appendText(appendText(buf, l.Name), l.Text)
}

// appendRow encodes a row of the limit in this place, the row before having been of that
// one; at is of the limit's row before. Differences wrap, and so they do in the decoder.
func appendRow(buf []byte, r *Row, place, before int, at int64) []byte {
	head := len(buf)
	buf = append(buf, itemRow)
	buf = binary.LittleEndian.AppendUint64(buf, r.Hash)
	fields := byte(0)
	if place != before {
		fields |= hasLimit
		buf = binary.AppendUvarint(buf, uint64(place))
	}
	if r.At != at {
		fields |= hasAt
		buf = binary.AppendVarint(buf, r.At-at)
	}
	if r.Rem != 0 {
		fields |= hasRem
		buf = binary.AppendUvarint(buf, r.Rem)
	}
	for i, n := range r.Counts {
		if n != 0 {
			fields |= hasCount0 << i
			buf = binary.AppendVarint(buf, n)
		}
	}
	if len(r.Log) > 0 {
		fields |= hasLog
		buf = appendLog(buf, r.Log, r.At)
	}
	buf[head] |= fields
	return buf
}

func appendLog(buf []byte, log []Event, at int64) []byte {
	buf = binary.AppendUvarint(buf, uint64(len(log)))
	for _, e := range log {
		buf = binary.AppendVarint(buf, e.At-at)
		buf = binary.AppendVarint(buf, e.N)
		at = e.At
	}
	return buf
}

func appendRegister(buf []byte, r *Register) []byte {
	item := byte(itemRegister)
	if r.Open {
		item = itemOpen
	}
	buf = append(buf, item, r.Kind)
	for _, x := range [...]uint64{r.Limit, r.Hash, r.Maker, r.Writer} {
		buf = binary.LittleEndian.AppendUint64(buf, x)
	}
	buf = binary.AppendUvarint(buf, r.ID)
	buf = binary.AppendUvarint(buf, r.Version)
	for _, x := range [...]int64{r.N, r.Start, r.Per, r.Until} {
		buf = binary.AppendVarint(buf, x)
	}
	buf = appendText(buf, r.Label)
	buf = binary.AppendVarint(buf, r.Charged)
	return binary.AppendVarint(buf, r.Life-r.Until)
}

func appendPart(buf []byte, p *Part) []byte {
	buf = append(buf, itemPart, p.From, p.To)
	buf = binary.AppendUvarint(buf, uint64(len(p.Vector)))
	for _, n := range p.Vector {
		buf = binary.LittleEndian.AppendUint64(buf, n.Origin)
		buf = binary.AppendUvarint(buf, n.Number)
		silent := uint64(max(n.Silent, 0)) << 1
		if n.Doubtful {
			silent |= 1
		}
		buf = binary.AppendUvarint(buf, silent)
	}
	return buf
}

func appendText(buf []byte, s string) []byte {
	return append(binary.AppendUvarint(buf, uint64(len(s))), s...)
}

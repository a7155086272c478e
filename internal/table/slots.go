package table

import "math/bits"

const (
	groupSlots = 8
	groupLoad  = 7 // entries a group on average before the shard grows

	lows  = 0x0101010101010101
	highs = 0x8080808080808080
)

// group is what a lookup reads of eight slots before it touches any: two bytes a slot,
// four groups a cache line.
type group struct {
	tags   uint64 // a byte a slot: 0 is empty, else 0x80 and seven bits of the hash
	dirty  uint8  // a bit a slot: something is unsent
	urgent uint8  // a subset of dirty
	passed uint32 // entries for which a search begins at an earlier group and goes on past this one
}

// slots is an open-addressing hash table in groups of eight slots. A search begins at
// the key's home group and goes on to the next while entries have been placed past the
// group; since that is counted both ways, removal leaves nothing behind.
type slots struct {
	groups  []group
	entries []entry // eight a group
	used    int32   // ≤ groupLoad · len(groups)
	hand    int32   // group at which the search for a victim goes on
}

// none is the groups of a shard without entries. Nothing is ever written to it.
var none = make([]group, 1)

// room is how many more entries fit without growing.
func (h *slots) room() int { return len(h.entries)/groupSlots*groupLoad - int(h.used) }

// home is the group at which the search for a hash begins. The high bits of the hash
// choose the shard, and bits 40 to 46 are the tag.
func home(hash uint64, groups int) int { return int(uint64(uint32(hash)) * uint64(groups) >> 32) }

func tagOf(hash uint64) uint64 { return 0x80 | hash>>40&0x7f }

// slotBit is the bit of a slot in its group's dirty and urgent.
func slotBit(i int) uint8 { return 1 << (i % groupSlots) }

// match has the high bit of each byte of tags that equals tag; and perhaps that of a
// byte above such a one.
func match(tags, tag uint64) uint64 {
	x := tags ^ tag*lows
	return (x - lows) &^ x & highs
}

// occupied is a bit a slot.
func (g *group) occupied() uint8 {
	return uint8((g.tags & highs >> 7) * 0x0102040810204080 >> 56)
}

// find returns the slot of the entry, -1 if there is none.
func (h *slots) find(hash uint64, limit uint32) int {
	at := home(hash, len(h.groups))
	tag := tagOf(hash)
	for range h.groups {
		g := &h.groups[at]
		for m := match(g.tags, tag); m != 0; m &= m - 1 {
			i := at*groupSlots + bits.TrailingZeros64(m)>>3
			if e := &h.entries[i]; e.hash == hash && e.limit == limit {
				return i
			}
		}
		if g.passed == 0 {
			break
		}
		if at++; at == len(h.groups) {
			at = 0
		}
	}
	return -1
}

// place takes a free slot for an entry that is not there. There must be room.
func (h *slots) place(hash uint64) int {
	at := home(hash, len(h.groups))
	for {
		g := &h.groups[at]
		if free := ^g.tags & highs; free != 0 {
			low := uint(bits.TrailingZeros64(free)) &^ 7
			g.tags |= tagOf(hash) << low
			h.used++
			return at*groupSlots + int(low>>3)
		}
		g.passed++
		if at++; at == len(h.groups) {
			at = 0
		}
	}
}

// remove frees a slot whose entry is not dirty.
func (h *slots) remove(i int) {
	last := i / groupSlots
	at := home(h.entries[i].hash, len(h.groups))
	for at != last {
		h.groups[at].passed--
		if at++; at == len(h.groups) {
			at = 0
		}
	}
	h.groups[last].tags &^= 0xff << (i % groupSlots * 8)
	h.entries[i] = entry{}
	h.used--
}

// resize moves everything to so many groups, which must have room; 0 frees the slots
// of an empty table.
func (h *slots) resize(groups int) {
	old := *h
	if groups == 0 {
		*h = slots{groups: none}
		return
	}
	*h = slots{groups: make([]group, groups), entries: make([]entry, groups*groupSlots)}
	if old.used == 0 {
		return
	}
	for at := range old.groups {
		g := &old.groups[at]
		for m := g.occupied(); m != 0; m &= m - 1 {
			bit := bits.TrailingZeros8(m)
			from := &old.entries[at*groupSlots+bit]
			i := h.place(from.hash)
			h.entries[i] = *from
			n := &h.groups[i/groupSlots]
			n.dirty |= g.dirty >> bit & 1 << (i % groupSlots)
			n.urgent |= g.urgent >> bit & 1 << (i % groupSlots)
		}
	}
}

// sizes are the numbers of groups a shard can have: steps of at most a quarter, and
// of a fifth where most shards of a full table are, whose slots and groups fill the
// size classes of Go's allocator. All are multiples of a cache line, so that an entry
// never lies across two.
var sizes = [...]int{1, 2, 3, 4, 6, 8, 10, 13, 16, 20, 24, 28, 32, 36, 40, 48, 56, 64}

// sizeFor is the least number of groups that has room for so many entries.
func sizeFor(entries int) int {
	if entries == 0 {
		return 0
	}
	groups := (entries + groupLoad - 1) / groupLoad
	for _, n := range sizes {
		if n >= groups {
			return n
		}
	}
	n := sizes[len(sizes)-1]
	for n < groups {
		n = (n + n/8 + 15) &^ 15 // whole pages of 8 kB
	}
	return n
}

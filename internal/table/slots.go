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
//
// With many keys the misses of the processor's caches are what a search costs: one for
// the group and one for the entry. So an entry is put, if it is free, into the one slot
// of its home group that its hash names, and a search looks there first: both misses
// are then under way at once.
type slots struct {
	groups  []group
	entries []entry // eight a group
	used    int32   // ≤ most
	most    int32   // groupLoad a group
	hand    int32   // group at which the search for a victim goes on
	_       int32
}

// none is the slots of a shard without entries. Nothing is ever written to its slices.
var none = slots{groups: make([]group, 1), entries: make([]entry, groupSlots)}

// room is how many more entries fit without growing.
func (h *slots) room() int { return int(h.most - h.used) }

// home is the group at which the search for a hash begins. Of the hash, the high bits
// choose the shard, the low 32 the home, the next three the seat; bits 40 to 46 are the
// tag.
func home(hash uint64, groups int) int { return int(uint64(uint32(hash)) * uint64(groups) >> 32) }

// seat is the slot of its home group that a hash names.
func seat(hash uint64) int { return int(hash >> 32 & (groupSlots - 1)) }

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
	i, tag := at*groupSlots+seat(hash), tagOf(hash)
	candidates := match(h.groups[at].tags, tag) // fetched while the entry is
	if e := &h.entries[i]; e.hash == hash && e.limit == limit {
		return i
	}
	for range h.groups {
		g := &h.groups[at]
		for m := candidates; m != 0; m &= m - 1 {
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
		candidates = match(h.groups[at].tags, tag)
	}
	return -1
}

// place takes a free slot for an entry that is not there. There must be room.
func (h *slots) place(hash uint64) int {
	h.used++
	at := home(hash, len(h.groups))
	if h.take(at, seat(hash), hash) {
		return at*groupSlots + seat(hash)
	}
	for {
		g := &h.groups[at]
		if free := ^g.tags & highs; free != 0 {
			slot := bits.TrailingZeros64(free) / 8
			h.take(at, slot, hash)
			return at*groupSlots + slot
		}
		g.passed++
		if at++; at == len(h.groups) {
			at = 0
		}
	}
}

// take marks a slot of a group as occupied if it is free.
func (h *slots) take(at, slot int, hash uint64) bool {
	g := &h.groups[at]
	if g.tags>>(8*slot)&0x80 != 0 {
		return false
	}
	g.tags |= tagOf(hash) << (8 * slot)
	return true
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
		*h = none
		return
	}
	*h = slots{groups: make([]group, groups), entries: make([]entry, groups*groupSlots), most: int32(groups * groupLoad)}
	if old.used == 0 {
		return
	}
	h.moveFrom(&old, true)
	h.moveFrom(&old, false)
}

// moveFrom moves the entries of another table whose seats are free, or all.
func (h *slots) moveFrom(old *slots, seated bool) {
	for at := range old.groups {
		g := &old.groups[at]
		for m := g.occupied(); m != 0; m &= m - 1 {
			slot := bits.TrailingZeros8(m)
			e := &old.entries[at*groupSlots+slot]
			if seated && h.groups[home(e.hash, len(h.groups))].occupied()>>seat(e.hash)&1 != 0 {
				continue
			}
			i := h.place(e.hash)
			h.entries[i] = *e
			to := &h.groups[i/groupSlots]
			to.dirty |= g.dirty >> slot & 1 << (i % groupSlots)
			to.urgent |= g.urgent >> slot & 1 << (i % groupSlots)
			g.tags &^= 0xff << (8 * slot)
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

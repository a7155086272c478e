package table

import (
	"math/rand/v2"
	"testing"

	"github.com/stint-go/stint/bucket"
)

// TestSlotsAgainstMap runs the hash table of a shard beside a map.
func TestSlotsAgainstMap(t *testing.T) {
	type id struct {
		hash  uint64
		limit uint32
	}
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var h slots
		h.resize(0)
		want := map[id]int64{}
		ids := make([]id, 300)
		for i := range ids {
			ids[i] = id{rnd.Uint64(), uint32(1 + rnd.IntN(2))}
			switch seed % 4 {
			case 1: // all tags alike
				ids[i].hash &^= 0x7f << 40
			case 2: // few homes: long searches
				ids[i].hash = ids[i].hash&^0xffffffff | uint64(rnd.IntN(3))<<30
			case 3: // one hash under two limits
				ids[i].hash = ids[i/2*2].hash
				ids[i].limit = uint32(1 + i%2)
			}
		}
		for range 20_000 {
			k := ids[rnd.IntN(len(ids))]
			i := h.find(k.hash, k.limit)
			if at, ok := want[k]; ok != (i >= 0) || ok && h.entries[i].state.At != at {
				t.Fatalf("seed %d: find %v: slot %d, want it there: %v", seed, k, i, ok)
			}
			switch {
			case i >= 0 && rnd.IntN(2) == 0:
				h.remove(i)
				delete(want, k)
			case i < 0:
				if h.room() == 0 {
					h.resize(sizeFor(int(h.used) + 1 + rnd.IntN(40)))
				}
				v := rnd.Int64()
				i = h.place(k.hash)
				h.entries[i] = entry{hash: k.hash, limit: k.limit, bucketBody: bucketBody{state: bucket.State{At: v}}}
				want[k] = v
			case rnd.IntN(100) == 0:
				h.resize(sizeFor(int(h.used)))
			}
			if int(h.used) != len(want) {
				t.Fatalf("seed %d: %d used, want %d", seed, h.used, len(want))
			}
		}
		for i := range h.entries {
			if h.groups[i/groupSlots].occupied()&slotBit(i) != 0 {
				h.remove(i)
			}
		}
		for i, g := range h.groups {
			if g != (group{}) {
				t.Fatalf("seed %d: emptied, group %d is %+v", seed, i, g)
			}
		}
	}
}

func TestMarksMoveWithTheirEntries(t *testing.T) {
	var h slots
	h.resize(0)
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		if h.room() == 0 {
			h.resize(sizeFor(int(h.used) + 1))
		}
		hash := rnd.Uint64()
		slot := h.place(hash)
		h.entries[slot] = entry{hash: hash, bucketBody: bucketBody{unsent: bucket.Run{N: int64(i % 3)}}}
		if i%3 > 0 {
			h.groups[slot/groupSlots].dirty |= slotBit(slot)
		}
		if i%3 > 1 {
			h.groups[slot/groupSlots].urgent |= slotBit(slot)
		}
	}
	for i := range h.entries {
		g := h.groups[i/groupSlots]
		dirty, urgent := g.dirty&slotBit(i) != 0, g.urgent&slotBit(i) != 0
		if n := h.entries[i].unsent.N; dirty != (n > 0) || urgent != (n > 1) {
			t.Errorf("slot %d: dirty %v, urgent %v, want %v, %v", i, dirty, urgent, n > 0, n > 1)
		}
	}
}

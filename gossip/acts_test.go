package gossip

import "fmt"

// spendSome is a definition, a record, or a drain of buckets and windows.
func (r *run) spendSome() {
	n := r.any()
	if r.rand.IntN(10) == 0 {
		n.define(Definition{ID: r.rand.Uint64N(3), Name: "limit", Text: fmt.Sprint(r.rand.IntN(9))})
		return
	}
	if r.rand.IntN(4) == 0 {
		r.putSome(n)
		return
	}
	var entries []Entry
	for i := range 1 + r.rand.IntN(12) {
		e := Entry{Limit: 1, Hash: uint64(i), N: r.rand.Int64N(20) - 5, Start: n.time() - r.rand.Int64N(100*ms) + r.rand.Int64N(2)*30*ms}
		entries = append(entries, e)
		if per := []int64{0, 100 * ms, 500 * ms, 60_000 * ms}[r.rand.IntN(4)]; per != 0 {
			e.Start, e.Per = r.now-r.now%per, per // this node's clock agrees with the cluster's
			if entries = append(entries, e); r.rand.IntN(2) == 0 {
				e.Start -= per
				entries = append(entries, e)
			}
		}
	}
	n.append(entries)
}

// putSome is a ban or the end of one, or a hold opened or settled, by anyone.
func (r *run) putSome(n *node) {
	until := n.time() + r.rand.Int64N(3000*ms)
	if r.rand.IntN(2) == 0 {
		until = n.time() + 1e12
	}
	x := Record{Kind: RecordBan, Limit: 1, Hash: r.rand.Uint64N(3), Open: r.rand.IntN(2) == 0, Until: until, Label: "somebody"}
	if r.rand.IntN(2) == 0 {
		x = Record{Kind: RecordHold, Limit: 2, Hash: r.rand.Uint64N(3), Maker: n.id, ID: uint64(len(r.puts)), Open: true, N: 100, Start: n.time(), Until: until}
		if holds := n.Records(RecordHold); len(holds) > 0 && r.rand.IntN(2) == 0 {
			x = holds[r.rand.IntN(len(holds))]
			x.Open, x.N = false, r.rand.Int64N(100)
		} else if r.rand.IntN(2) == 0 {
			x.Start, x.Per = r.now-r.now%(500*ms), 500*ms
		}
	}
	n.put(x)
}

package gossip

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

const batchSize = 10_000 // entries

// wares are what a drain may consist of, each n entries at a time. The hashes, amounts and ages
// of buckets are those of typical.
var wares = map[string]func(i int, e *Entry){
	"buckets": func(i int, e *Entry) {},
	"windows": func(i int, e *Entry) { e.Start, e.Per = 1_700_000_040_000*ms, 60_000*ms },
	"mixed": func(i int, e *Entry) { // twelve limits, half of them of windows
		e.Limit = uint64(i%12+1) * 0x9e3779b97f4a7c15
		if i%2 == 0 {
			e.Start, e.Per = 1_700_000_040_000*ms, int64(i%12+1)*60_000*ms
		}
	},
	"cold": func(i int, e *Entry) { e.Limit, e.N = 1<<63, 1 }, // each taken once
}

// What an entry takes on the wire, all headers of its frame included, and what it costs
// to encode it: by what it is of, and by how many share a batch.
func BenchmarkEncode(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(wares)) {
		for _, size := range []int{20, 100, 10_000} {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				entries := typical(size, 1000*ms)
				for i := range entries {
					wares[name](i, &entries[i])
				}
				s := &segment{to: 1, last: 1000 * ms, entries: entries}
				h, bytes := header{kindBatch, 1 << 63, 1 << 62, 9, 1 << 61}, 0
				b.ReportAllocs()
				for b.Loop() {
					bytes = 0
					for _, body := range encodeBodies(s, nil, 512<<10) {
						bytes += len(encodeBatch(h, &batch{From: 1 << 20, To: 1<<20 + 1, Parts: 1, Sent: 1000 * ms}, body))
					}
				}
				b.SetBytes(int64(bytes))
				b.ReportMetric(float64(bytes)/float64(size), "B/entry")
			})
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	s := &segment{to: 1, last: 1000 * ms, entries: inGroups(typical(batchSize, 1000*ms), 1<<62)}
	frame := encodeBatch(header{kind: kindBatch}, &batch{To: 1, Parts: 1}, encodeBodies(s, nil, 512<<10)[0])
	sum := int64(0)
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	for b.Loop() {
		f, err := decodeFrame(frame)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := decodeBody(f.body, func(e Entry) { sum += e.N }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(frame))/batchSize, "B/entry")
}

// crowd is a node whose links to so many peers are open.
func crowd(b *testing.B, peers int) (w *world, a *node) {
	w = newWorld(b)
	a = w.born("a")
	for range peers {
		p := w.born("p")
		a.up(p)
		p.up(a)
		a.open(p)
	}
	w.settle()
	return w, a
}

// One drain of 10,000 entries: into the log, to 9 peers, and acknowledged by all.
func BenchmarkAppendTick(b *testing.B) {
	w, a := crowd(b, 9)
	entries := typical(batchSize, w.now)
	now, bytes := w.now, 0
	b.ReportAllocs()
	for b.Loop() {
		now += 100 * ms
		for i := range entries {
			entries[i].Start += 100 * ms
		}
		a.Append(now, now, entries)
		a.Tick(now)
		bytes = 0
		for _, f := range a.Output().Frames {
			bytes += len(f.Bytes())
		}
		for _, l := range a.links {
			h := header{kindAck, a.id, l.peer, l.session, l.nonce}
			if err := a.Receive(now, l.peer, encodeFrame(h, &ack{Number: a.Head(), Echo: now})); err != nil {
				b.Fatal(err)
			}
		}
	}
	if !a.Quiet() || len(a.log.segments) > 0 {
		b.Fatal("not all was acknowledged")
	}
	b.ReportMetric(float64(bytes)/batchSize/9, "B/entry")
}

// The same drain at a peer.
func BenchmarkReceive(b *testing.B) {
	w, a := crowd(b, 1)
	peer, l := w.live[1], a.links[0]
	s := &segment{to: 1, last: w.now, entries: inGroups(typical(batchSize, w.now), 1<<62)}
	body := encodeBodies(s, nil, 512<<10)[0]
	h := header{kindBatch, a.id, peer.id, l.session, l.nonce}
	n, bytes := uint64(0), 0
	b.ReportAllocs()
	for b.Loop() {
		frame := encodeBatch(h, &batch{From: n, To: n + 1, Parts: 1, Sent: w.now}, body)
		bytes = len(frame)
		n++
		if err := peer.Receive(w.now, a.id, frame); err != nil {
			b.Fatal(err)
		}
		if len(peer.Output().Charges) != batchSize {
			b.Fatal("not all was applied")
		}
	}
	b.ReportMetric(float64(bytes)/batchSize, "B/entry")
}

// An absent peer: each drain merges into the one segment kept for it.
func BenchmarkCoalesce(b *testing.B) {
	w, a := crowd(b, 1)
	a.closed(w.live[1])
	entries := typical(batchSize, w.now)
	b.ReportAllocs()
	for b.Loop() {
		a.Append(w.now, w.now, entries)
	}
	if n, _ := a.Size(); n != batchSize {
		b.Fatalf("got %d entries", n)
	}
}

package cluster

import (
	"slices"
	"testing"
	"time"
)

// A frame in parts, some of them empty, arrives as one, and its bytes are counted once.
func TestFrameInParts(t *testing.T) {
	inBubble(t, func(r *rig) {
		a, b, _ := r.three()
		shared := []byte("shared body")
		for _, parts := range [][][]byte{{[]byte("one")}, {[]byte("1"), shared}, {nil, []byte("2"), nil, shared, nil}} {
			if !a.Send(2, parts...) {
				r.Fatalf("%q was not taken", parts)
			}
		}
		for _, bad := range [][][]byte{{}, {nil, {}}, {make([]byte, MaxFrame), {1}}} {
			if a.Send(2, bad...) {
				r.Errorf("%d parts that are no frame were taken", len(bad))
			}
		}
		want := []string{"1:one", "1:1shared body", "1:2shared body"}
		r.within(time.Second, "all are there", func() bool { return len(b.got()) == len(want) })
		if got := b.got(); !slices.Equal(got, want) {
			r.Errorf("got %q, want %q", got, want)
		}
		if s, bytes := a.Links()[0], int64(3+12+12+3*frameHead); s.FramesOut != 3 || s.BytesOut != bytes {
			r.Errorf("got %+v, want 3 frames of %d bytes", s, bytes)
		}
	})
}

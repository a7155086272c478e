package memnet

import "time"

// window is how many bytes of one direction may be unread, flying ones included.
const window = 256 << 10

// chunk is a piece of a stream, or its end if end is not nil.
type chunk struct {
	data []byte
	due  time.Time
	end  error // io.EOF or ECONNRESET
}

// half is one direction of a stream. All of it is guarded by Network.mu.
type half struct {
	pair
	chunks []chunk // in order; due never falls
	size   int     // bytes in chunks, at most window
	ended  bool    // the writer said its last
	gone   bool    // the reader has closed
	wake   chan struct{}
}

// headLocked tells whether the first chunk has arrived, and if not, when it
// will (zero: not before something changes).
func (h *half) headLocked(n *Network) (due time.Time, ready bool) {
	if len(h.chunks) == 0 {
		return time.Time{}, false
	}
	due = h.chunks[0].due
	if since, stalled := n.cutSinceLocked(h.pair); stalled && due.After(since) {
		return time.Time{}, false
	}
	return due, !time.Now().Before(due)
}

func (h *half) takeLocked(b []byte) (int, error) {
	first := &h.chunks[0]
	if first.end != nil {
		return 0, first.end // stays, for the next read
	}
	n := copy(b, first.data)
	first.data = first.data[n:]
	if len(first.data) == 0 {
		h.chunks = h.chunks[1:]
	}
	h.size -= n
	h.wakeLocked()
	return n, nil
}

func (h *half) putLocked(n *Network, c chunk) {
	c.due = time.Now().Add(n.transitLocked(h.pair))
	if len(h.chunks) > 0 {
		if last := h.chunks[len(h.chunks)-1].due; c.due.Before(last) {
			c.due = last
		}
	}
	h.chunks = append(h.chunks, c)
	h.size += len(c.data)
	h.wakeLocked()
}

// endLocked adds the end of the stream, once.
func (h *half) endLocked(n *Network, end error) {
	if h.ended {
		return
	}
	h.ended = true
	if h.gone {
		return
	}
	h.putLocked(n, chunk{end: end})
}

func (h *half) wakeLocked() {
	close(h.wake)
	h.wake = make(chan struct{})
}

package table

import (
	"math"

	"github.com/stint-go/stint/window"
)

// SetWall sets cluster time, from which windows are cut: the caller's now + offset, in
// nanoseconds since the Unix epoch. It is 0 in a new table.
func (t *Table) SetWall(offset int64) { t.wall.Store(offset) }

// Wall is the cluster time at now.
func (t *Table) Wall(now int64) int64 { return plus(now, t.wall.Load()) }

// monotonic is the inverse of Wall.
func (t *Table) monotonic(wall int64) int64 { return minus(wall, t.wall.Load()) }

// minKept is the length, in nanoseconds, of windows whose frame is worth keeping.
const minKept = 1_000_000_000

// frames are those of a limit that were looked at last.
type frames struct{ newer, older window.Frame }

// frameAt is the frame of a moment of cluster time: a division, and more for calendars,
// unless it is one of the last.
func (v *version) frameAt(wall int64) window.Frame {
	if k := v.frames.Load(); k != nil && k.newer.Contains(wall) {
		return k.newer
	}
	return v.cut(wall)
}

func (v *version) cut(wall int64) window.Frame {
	known := v.frames.Load()
	if known != nil && known.older.Contains(wall) {
		return known.older
	}
	f := v.Window.Frame(wall)
	if f.To-f.From < minKept {
		return f
	}
	k := &frames{newer: f}
	if known != nil {
		k.older = known.newer
		if k.older.From > k.newer.From {
			k.newer, k.older = k.older, k.newer
		}
	}
	v.frames.Store(k)
	return f
}

// Row is an amount of events, negative for a refund, on its way out or in. That of a
// window is named by where the window lies: Start in cluster time, and Per, its length.
// Any other has Per 0, and Start is when the events were spent, on this node's clock: for
// a bucket the effective start of the run ([bucket.Limit.Start]), for a log its last.
type Row struct{ N, Start, Per int64 }

// Mark is when and where a take at now lands, to refund it by. N is 0.
func (t *Table) Mark(l *Limit, now int64) Row {
	return t.mark(l.current.Load(), now)
}

func (t *Table) mark(v *version, now int64) Row {
	if v.Kind != Window {
		return Row{Start: now}
	}
	f := v.frameAt(t.Wall(now))
	return Row{Start: f.From, Per: f.To - f.From}
}

// plus is a + b, saturating.
func plus(a, b int64) int64 {
	c := a + b
	switch {
	case (c > a) == (b > 0):
		return c
	case b > 0:
		return math.MaxInt64
	}
	return math.MinInt64
}

// minus is a − b, saturating.
func minus(a, b int64) int64 {
	c := a - b
	switch {
	case (c < a) == (b > 0):
		return c
	case b > 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

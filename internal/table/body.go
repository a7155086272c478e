package table

import "github.com/stint-go/stint/window"

// rollLocked makes a window's entry stand at now, and returns where that is.
func (t *Table) rollLocked(w *windowBody, v *version, now int64) (f window.Frame, wall int64) {
	wall = t.Wall(now)
	f = v.frameAt(wall)
	from := w.state.From
	v.Window.Roll(&w.state, f)
	w.follow(from, f)
	return f, wall
}

// where is the index of f's own window in the counts of a state that stands at f, and in
// unsent.
func (w *windowBody) where(f window.Frame) int {
	if w.state.From > f.From {
		return 1
	}
	return 0
}

// add records events of a window as unsent.
func (w *windowBody) add(i int, n int64) { w.unsent[i] = plus(w.unsent[i], n) }

// follow moves what is unsent along with the state, which stood at from and was then made
// to stand at f.
//
// What falls off the end is dropped: it is of a window that is over, and the one after it
// too, on this node's clock, and takes that long to fetch only if windows are shorter
// than the time between two drains.
func (w *windowBody) follow(from int64, f window.Frame) {
	if w.state.From != from {
		w.move(from, f)
	}
}

func (w *windowBody) move(from int64, f window.Frame) {
	switch to := w.state.From; {
	case from >= f.After: // the clock went back, and all counts in f's window now
		all := plus(w.unsent[0], w.unsent[1])
		w.unsent = [2]int64{}
		w.unsent[w.where(f)] = all
	case to == f.From && from >= f.From || to == f.To && from >= f.To: // another cut
	case to == f.From && from >= f.Before, to == f.To && from >= f.From:
		w.unsent = [2]int64{0, w.unsent[0]}
	default:
		w.unsent = [2]int64{}
	}
}

// add records events at a time, not before those of the last call, as unsent.
func (b *logBody) add(n, at int64) {
	if b.unsent == 0 {
		b.first, b.last = at, at
	}
	b.first, b.last = min(b.first, at), max(b.last, at)
	b.unsent = plus(b.unsent, n)
}

package sim

// What an origin tells nobody any more, because it is stale and only peers long dead lack
// it, is missing from its drains when one of them is back after all.

// untold is how many events all nodes have dropped so.
func (w *World) untold() (events int64) {
	if w.opts.Lossy {
		for _, n := range w.byID {
			events += n.engine.Ledger().Forgiven()
		}
	}
	return events
}

// mayLack reports whether so many events of a spot can have been dropped as stale by a
// node.
func (n *Node) mayLack(s spot, events int64) bool {
	return s.per == 0 && events > 0 && events <= n.engine.Ledger().Forgiven()
}

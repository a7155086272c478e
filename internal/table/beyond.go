package table

// beyondLocked is by how many events more than its limit has are in use of a key: by so
// many others and this node have overspent it together.
func (t *Table) beyondLocked(s *shard, e *entry, v *version, now int64) int64 {
	if v.Kind == Bucket {
		return v.Bucket.Beyond(e.state, now)
	}
	return max(t.usedLocked(s, e, v, now)-v.most, 0)
}

func (l *Limit) exceeds(n int64) {
	for n > 0 {
		old := l.beyond.Load()
		if n <= old || l.beyond.CompareAndSwap(old, n) {
			return
		}
	}
}

// Exceeded is the most events by which charges have left a key of the limit beyond it
// since the last call.
func (l *Limit) Exceeded() int64 {
	if l.beyond.Load() == 0 {
		return 0
	}
	return l.beyond.Swap(0)
}

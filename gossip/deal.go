package gossip

import "slices"

// inGroups is entries in order of their groups: themselves if they are, or a copy.
// Groups are few and entries many, so they are dealt out rather than sorted.
func inGroups(entries []Entry, last int64) []Entry {
	var h hands
	sorted := true
	for i, j := 0, 0; i < len(entries); i = j {
		g := groupOf(&entries[i], last)
		for j = i + 1; j < len(entries) && groupOf(&entries[j], last) == g; {
			j++
		}
		k := h.of(g)
		sorted = sorted && h.all[k].size == 0 && (k == 0 || h.all[k-1].compare(g) < 0)
		h.all[k].size += j - i
	}
	if sorted {
		return entries
	}
	h.place()
	dealt := make([]Entry, len(entries))
	for i := range entries {
		k := h.of(groupOf(&entries[i], last))
		dealt[h.all[k].next] = entries[i]
		h.all[k].next++
	}
	return dealt
}

// hands are the groups that entries are dealt to, in order of appearance.
type hands struct {
	all   []hand
	index map[group]int // where there are too many to look at each
}

type hand struct {
	group
	size, next int
}

// of is where the hand of a group is; a new one is empty.
func (h *hands) of(g group) int {
	const few = 8
	for k := range h.all[:min(len(h.all), few)] {
		if h.all[k].group == g {
			return k
		}
	}
	if k, ok := h.index[g]; ok {
		return k
	}
	if h.all = append(h.all, hand{group: g}); len(h.all) > few {
		if h.index == nil {
			h.index = make(map[group]int)
		}
		h.index[g] = len(h.all) - 1
	}
	return len(h.all) - 1
}

// place has each hand begin where those before it end.
func (h *hands) place() {
	ordered := make([]int, len(h.all))
	for k := range ordered {
		ordered[k] = k
	}
	slices.SortFunc(ordered, func(a, b int) int { return h.all[a].compare(h.all[b].group) })
	next := 0
	for _, k := range ordered {
		h.all[k].next = next
		next += h.all[k].size
	}
}

package sim

import "slices"

// moment is events at one time.
type moment struct{ at, n int64 }

// moments are in order of time, each time once.
type moments []moment

func (m moments) find(at int64) (int, bool) {
	return slices.BinarySearchFunc(m, at, func(x moment, at int64) int { return int(min(max(x.at-at, -1), 1)) })
}

// count adds events at a time, or takes some out: those of that time, else the nearest
// before it, else the nearest after it.
func (m *moments) count(at, events int64) {
	i, found := m.find(at)
	if events < 0 {
		m.remove(i, found, -events)
		return
	}
	if !found {
		*m = slices.Insert(*m, i, moment{at: at})
	}
	(*m)[i].n += events
}

func (m *moments) remove(i int, found bool, events int64) {
	take := func(x *moment) {
		n := min(x.n, events)
		x.n -= n
		events -= n
	}
	after := i
	if found {
		after++
	}
	for j := after - 1; j >= 0; j-- {
		take(&(*m)[j])
	}
	for j := after; j < len(*m); j++ {
		take(&(*m)[j])
	}
	*m = slices.DeleteFunc(*m, func(x moment) bool { return x.n == 0 })
}

func (m moments) sum() (sum int64) {
	for _, x := range m {
		sum += x.n
	}
	return sum
}

// since is the events after a time.
func (m moments) since(at int64) (sum int64) {
	for _, x := range m {
		if x.at > at {
			sum += x.n
		}
	}
	return sum
}

// forget drops those up to a time.
func (m *moments) forget(at int64) {
	*m = slices.DeleteFunc(*m, func(x moment) bool { return x.at <= at })
}

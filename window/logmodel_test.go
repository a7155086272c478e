package window

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// naiveLog is a key under a sliding log, as the exact list of its events, written for
// reading.
type naiveLog struct {
	l    *LogLimit
	past []Event // each take by itself, in any order
}

// settle is where the clock that went back more than a period is put right.
func (m *naiveLog) settle(now int64) {
	m.past = slices.DeleteFunc(m.past, func(e Event) bool { return e.At+m.l.per <= now })
	for i := range m.past {
		if m.past[i].At > now+m.l.per {
			m.past[i].At = now
		}
	}
}

// used is what counts of the events for so much longer than a period.
func (m *naiveLog) used(now, longer int64) (n int64) {
	for _, e := range m.past {
		if e.At+m.l.per+longer > now {
			n += e.N
		}
	}
	return n
}

func (m *naiveLog) passes(now, n int64) bool { return n >= 0 && n <= m.l.events-m.used(now, 0) }

func (m *naiveLog) refund(at, n int64) {
	slices.SortFunc(m.past, func(a, b Event) int { // the nearest at or before at, then the nearest after
		switch {
		case a.At <= at && b.At <= at:
			return cmp.Compare(b.At, a.At)
		case a.At <= at:
			return -1
		case b.At <= at:
			return 1
		}
		return cmp.Compare(a.At, b.At)
	})
	for i := range m.past {
		k := min(n, m.past[i].N)
		m.past[i].N -= k
		n -= k
	}
	m.past = slices.DeleteFunc(m.past, func(e Event) bool { return e.N == 0 })
}

// TestLogModel makes a million random operations on a log that never holds too many
// records, and on the list of its events: takes, charges, refunds, clocks that go back and
// far ahead. Every answer must be the same.
func TestLogModel(t *testing.T) {
	l := NewLog(50, minute)
	m := &naiveLog{l: &l}
	r := rand.New(rand.NewPCG(3, 1))
	var log Log
	now, admitted, refused := hour, 0, 0
	for range operations() {
		switch r.IntN(200) {
		case 0:
			now += r.Int64N(3 * minute)
		case 1:
			now -= r.Int64N(3 * minute)
		case 2:
			now += pick(r, -1, 1) * r.Int64N(100*day)
		default:
			now += r.Int64N(second) * pick(r, 0, 1, 1)
		}
		m.settle(now)
		switch n := pick(r, 1, 1, 2, 1+r.Int64N(60)); r.IntN(8) {
		case 0:
			at := now - r.Int64N(2*minute) + second
			l.Charge(&log, now, at, n)
			if at = min(at, now); at+minute > now {
				m.past = append(m.past, Event{at, n})
			}
		case 1:
			at := now - r.Int64N(2*minute) + second
			if len(log) > 0 && r.IntN(2) == 0 {
				at = log[r.IntN(len(log))].At
			}
			l.Charge(&log, now, at, -n)
			if at = min(at, now); at+minute > now {
				m.refund(at, n)
			}
		default:
			n = pick(r, n, n, n, 0, -1)
			want := m.passes(now, n)
			left, retry := l.Take(&log, now, n)
			if want != (retry == 0) {
				t.Fatalf("Take(%d, %d): retry %d, want it to pass: %v", now, n, retry, want)
			}
			if want && n > 0 {
				m.past = append(m.past, Event{now, n})
				admitted++
			} else if !want {
				refused++
				checkLogRetry(t, m, log, now, n, retry)
			}
			if want := max(0, l.events-m.used(now, 0)); left != want {
				t.Fatalf("Take(%d, %d): %d left, want %d", now, n, left, want)
			}
		}
		checkLog(t, &l, log, now)
		checkLogViews(t, m, log, now+r.Int64N(2*minute)*pick(r, 0, 0, 1))
	}
	if admitted < operations()/50 || refused < operations()/50 {
		t.Errorf("admitted %d, refused %d: this shows little", admitted, refused)
	}
}

func checkLogRetry(t *testing.T, m *naiveLog, log Log, now, n, wait int64) {
	if got := m.l.RetryAfter(log, now, n); got != wait {
		t.Fatalf("RetryAfter = %d, Take said %d", got, wait)
	}
	if n < 0 || n > m.l.events {
		if wait != Never {
			t.Fatalf("RetryAfter(%d) = %d, want Never", n, wait)
		}
		return
	}
	if wait < 1 || !m.passes(now+wait, n) || m.passes(now+wait-1, n) {
		t.Fatalf("take of %d at %d: RetryAfter = %d is not the least wait", n, now, wait)
	}
}

func checkLogViews(t *testing.T, m *naiveLog, log Log, now int64) {
	used := m.used(now, 0)
	if got := m.l.Used(log, now); got != used {
		t.Fatalf("Used(%d) = %d, want %d", now, got, used)
	}
	if got, want := m.l.Remaining(log, now), max(0, m.l.events-used); got != want {
		t.Fatalf("Remaining(%d) = %d, want %d", now, got, want)
	}
	if got, want := m.l.AtRest(log, now), used == 0; got != want {
		t.Fatalf("AtRest(%d) = %v with %d used", now, got, used)
	}
	reset := m.l.ResetAfter(log, now)
	if m.used(now+reset, 0) > 0 || reset > 0 && m.used(now+reset-1, 0) == 0 {
		t.Fatalf("ResetAfter(%d) = %d, and it is not", now, reset)
	}
}

// checkLog is what holds for every log.
func checkLog(t testing.TB, l *LogLimit, log Log, now int64) {
	t.Helper()
	if len(log) > MaxEvents || cap(log) > MaxEvents {
		t.Fatalf("%d records, room for %d", len(log), cap(log))
	}
	for i, e := range log {
		if e.N < 1 || i > 0 && log[i-1].At >= e.At || l.expired(e.At, now) || l.early(e.At, now) {
			t.Fatalf("record %d is %+v at %d: %+v", i, e, now, log)
		}
	}
}

// TestCoarse makes a million random operations on logs with many more moments than
// records: they count at least what is in force, and at most what is or was within a
// 128th of the period before.
func TestCoarse(t *testing.T) {
	for _, per := range []int64{1000, minute, hour + 1} {
		l := NewLog(3000, per)
		m := &naiveLog{l: &l}
		r := rand.New(rand.NewPCG(3, uint64(per)))
		var log Log
		now, full := day, 0
		grain := (per-1)/grains + 1
		for i := range operations() / 3 {
			now += r.Int64N(per/1000+1) * pick(r, 0, 1, 1, 2)
			if r.IntN(5000) == 0 {
				now += r.Int64N(2 * per)
			}
			n := pick(r, 1, 2, r.Int64N(20)+1)
			if r.IntN(4) == 0 {
				if at := now - r.Int64N(per); at+per > now {
					l.Charge(&log, now, at, n)
					m.past = append(m.past, Event{at, n})
				}
			} else if _, retry := l.Take(&log, now, n); retry == 0 {
				m.past = append(m.past, Event{now, n})
			}
			if len(log) > MaxEvents/2+1 {
				full++
			}
			if i%16 > 0 { // the list is long
				continue
			}
			m.past = slices.DeleteFunc(m.past, func(e Event) bool { return e.At+per+grain <= now })
			l.expire(&log, now)
			checkLog(t, &l, log, now)
			if got, least, most := l.Used(log, now), m.used(now, 0), m.used(now, grain-1); got < least || got > most {
				t.Fatalf("per %d: %d used at %d, want %d to %d", per, got, now, least, most)
			}
		}
		if full < operations()/10 {
			t.Errorf("per %d: only %d times many records: this shows little", per, full)
		}
	}
}

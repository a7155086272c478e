package window

import "testing"

// FuzzTake: four numbers make a limit, six a key's state and a moment, one an ask, three
// a charge. Nothing panics, wraps or mints; waits are true.
func FuzzTake(f *testing.F) {
	f.Fuzz(func(t *testing.T, events, per int64, kind, where uint8, from, a, b, c, wall, n, at, length, charge int64) {
		var l Limit
		switch kind % 4 {
		case 0:
			l = NewFixed(events, per)
		case 1, 2:
			l = NewSliding(events, per)
		case 3:
			l = NewCalendar(events, Calendar(where%4), allZones[int(where)%len(allZones)])
		}
		s := State{from, [3]int64{a, b, c}}
		checkTake(t, &l, s, wall, n)
		checkCharge(t, &l, s, wall, at, length, charge)
		checkTake(t, &l, State{l.Frame(wall).From, s.Counts}, wall, n)
		checkTake(t, &l, State{l.Frame(wall).To, s.Counts}, wall, n)
	})
}

// FuzzLog: operations on one log, each of 24 bytes or fewer; two numbers make its limit.
func FuzzLog(f *testing.F) {
	f.Fuzz(func(t *testing.T, events, per, start int64, steps []byte) {
		l := NewLog(events, per)
		var log Log
		now := start
		for i := 0; i+3 <= len(steps) && i < 3*1000; i += 3 {
			step, n := int64(int8(steps[i])), int64(int8(steps[i+1]))
			if what := steps[i+2]; what&2 > 0 { // by large numbers
				step, n = step*(l.per/7+1), n*(l.events/9+1)
			}
			now = addSat(now, step)
			checkLogStep(t, &l, &log, now, subSat(now, n), n, steps[i+2]&1 > 0)
			if len(log) > MaxEvents || cap(log) > MaxEvents {
				t.Fatalf("%d records, room for %d", len(log), cap(log))
			}
		}
	})
}

// FuzzCalendar: any moment of any zone: the windows around it join, and begin at the
// first moment of a date.
func FuzzCalendar(f *testing.F) {
	f.Fuzz(func(t *testing.T, where, unit uint8, wall int64) {
		z := allZones[int(where)%len(allZones)]
		l := NewCalendar(1, Calendar(unit%4), z)
		frame := checkFrame(t, &l, wall)
		if wall < -far/2 || wall > far/2 {
			return
		}
		if first, last := dateOf(frame.From, z), dateOf(frame.From-1, z); first <= last {
			t.Fatalf("%v: a window begins at %v, at no new date", z, show(frame.From, z))
		}
	})
}

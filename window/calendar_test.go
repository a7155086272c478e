package window

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// at reads a local time in a zone, as nanoseconds.
func at(t testing.TB, in *time.Location, text string) int64 {
	t.Helper()
	moment, err := time.ParseInLocation("2006-01-02 15:04:05", text, in)
	if err != nil {
		t.Fatal(err)
	}
	return moment.UnixNano()
}

// TestCalendar: windows, by their first moments.
func TestCalendar(t *testing.T) {
	tests := []struct {
		unit           Calendar
		zone           string
		wall, from, to string
		hours          int64
	}{
		{Day, "UTC", "2026-01-01 00:00:00", "2026-01-01 00:00:00", "2026-01-02 00:00:00", 24},
		{Day, "Europe/Paris", "2026-03-28 23:59:59", "2026-03-28 00:00:00", "2026-03-29 00:00:00", 24},
		{Day, "Europe/Paris", "2026-03-29 12:00:00", "2026-03-29 00:00:00", "2026-03-30 00:00:00", 23},
		{Day, "Europe/Paris", "2026-10-25 12:00:00", "2026-10-25 00:00:00", "2026-10-26 00:00:00", 25},
		{Day, "America/Los_Angeles", "2026-07-04 16:59:00", "2026-07-04 00:00:00", "2026-07-05 00:00:00", 24},
		{Day, "America/Los_Angeles", "2026-03-08 01:00:00", "2026-03-08 00:00:00", "2026-03-09 00:00:00", 23},
		{Day, "Australia/Lord_Howe", "2026-04-05 12:00:00", "2026-04-05 00:00:00", "2026-04-06 00:00:00", 24}, // and a half
		{Week, "Europe/Paris", "2026-03-29 23:00:00", "2026-03-23 00:00:00", "2026-03-30 00:00:00", 7*24 - 1},
		{Week, "Europe/Paris", "2026-03-30 00:00:00", "2026-03-30 00:00:00", "2026-04-06 00:00:00", 7 * 24},
		{Week, "America/Los_Angeles", "2026-01-01 00:00:00", "2025-12-29 00:00:00", "2026-01-05 00:00:00", 7 * 24},
		{Month, "UTC", "2026-02-28 23:59:59", "2026-02-01 00:00:00", "2026-03-01 00:00:00", 28 * 24},
		{Month, "UTC", "2028-02-29 00:00:00", "2028-02-01 00:00:00", "2028-03-01 00:00:00", 29 * 24},
		{Month, "UTC", "2100-02-28 00:00:00", "2100-02-01 00:00:00", "2100-03-01 00:00:00", 28 * 24},
		{Month, "America/Los_Angeles", "2026-04-30 23:00:00", "2026-04-01 00:00:00", "2026-05-01 00:00:00", 30 * 24},
		{Month, "Europe/Paris", "2026-12-31 23:59:59", "2026-12-01 00:00:00", "2027-01-01 00:00:00", 31 * 24},
		{Month, "Europe/Paris", "2026-03-31 23:00:00", "2026-03-01 00:00:00", "2026-04-01 00:00:00", 31*24 - 1},
		{Month, "Europe/Paris", "1960-10-02 23:00:00", "1960-10-01 00:00:00", "1960-11-01 00:00:00", 31 * 24},
		// Clocks jump over midnight.
		{Day, "America/Sao_Paulo", "2018-11-04 12:00:00", "2018-11-04 01:00:00", "2018-11-05 00:00:00", 23},
		{Day, "Asia/Beirut", "2024-03-31 12:00:00", "2024-03-31 01:00:00", "2024-04-01 00:00:00", 23},
		{Month, "Asia/Amman", "1999-07-01 12:00:00", "1999-07-01 01:00:00", "1999-08-01 00:00:00", 31*24 - 1},
		// They go through it twice; they leave out 30 December.
		{Day, "America/Sao_Paulo", "2018-02-17 12:00:00", "2018-02-17 00:00:00", "2018-02-18 00:00:00", 25},
		{Day, "Pacific/Apia", "2011-12-29 12:00:00", "2011-12-29 00:00:00", "2011-12-31 00:00:00", 24},
		{Day, "Pacific/Apia", "2011-12-31 12:00:00", "2011-12-31 00:00:00", "2012-01-01 00:00:00", 24},
	}
	for _, test := range tests {
		z := zone(test.zone)
		l := NewCalendar(1, test.unit, z)
		f := l.Frame(at(t, z, test.wall))
		if from, to := at(t, z, test.from), at(t, z, test.to); f.From != from || f.To != to {
			t.Errorf("%s, %s: from %v to %v, want %v to %v", test.zone, test.wall, show(f.From, z), show(f.To, z), show(from, z), show(to, z))
		}
		if got := (f.To - f.From) / hour; got != test.hours {
			t.Errorf("%s, %s: %d hours, want %d", test.zone, test.wall, got, test.hours)
		}
		checkFrame(t, &l, at(t, z, test.wall))
	}
}

func show(wall int64, z *time.Location) string { return time.Unix(0, wall).In(z).Format(time.RFC3339) }

// TestDailyQuota: a quota of 3 a day in Paris, asked for every minute through both clock
// changes of a year, is reset once a day, at local midnight (case 12).
func TestDailyQuota(t *testing.T) {
	paris := zone("Europe/Paris")
	for _, days := range [][2]string{{"2026-03-28 00:00:00", "2026-03-31 00:00:00"}, {"2026-10-24 00:00:00", "2026-10-27 00:00:00"}} {
		l := NewCalendar(3, Day, paris)
		var s State
		var got []string
		for wall := at(t, paris, days[0]); wall < at(t, paris, days[1]); wall += minute {
			if _, _, retry := l.Take(&s, l.Frame(wall), wall, 1); retry == 0 {
				got = append(got, time.Unix(0, wall).In(paris).Format("2 15:04"))
			}
		}
		first := time.Unix(0, at(t, paris, days[0])).In(paris).Day()
		var want []string
		for d := first; d < first+3; d++ {
			for m := range 3 {
				want = append(want, fmt.Sprintf("%d 00:0%d", d, m))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("admitted at %v, want %v", got, want)
		}
	}
}

// TestDaysAroundEveryChange walks a zone's clocks through the three days around each of
// their changes, minute by minute: a day begins when clocks show its date or a later one
// for the first time, and at no other moment.
func TestDaysAroundEveryChange(t *testing.T) {
	for i, z := range allZones {
		l := NewCalendar(1, Day, z)
		for _, change := range changes(z, i) {
			const around = 36 * hour
			wall := floorDiv(change-around, minute) * minute
			f := l.Frame(wall)
			latest := dateOf(wall, z)
			for ; wall < change+around; wall += minute {
				begins := false
				if d := dateOf(wall, z); d > latest {
					latest, begins = d, true
				}
				if begins != !f.Contains(wall) {
					t.Fatalf("%v, %v: a day begins: %v, left the day that began %v: %v", z, show(wall, z), begins, show(f.From, z), !f.Contains(wall))
				}
				if begins {
					if f = l.Frame(wall); f.From != wall {
						t.Fatalf("%v: a day begins at %v, got %v", z, show(wall, z), show(f.From, z))
					}
				}
				if wall%hour == 0 && l.Frame(wall) != f {
					t.Fatalf("%v, %v: Frame = %+v, want %+v", z, show(wall, z), l.Frame(wall), f)
				}
			}
		}
	}
}

// changes are those of a zone's clocks from 1970 on, to whole minutes, all or, in a short
// test, some of them. (Before, few clocks had whole minutes.)
func changes(z *time.Location, seed int) (found []int64) {
	r := rand.New(rand.NewPCG(1, uint64(seed)))
	for t := time.Unix(0, 0); t.Year() < 2030; {
		_, end := t.In(z).ZoneBounds()
		if end.IsZero() {
			break
		}
		if t = end; !testing.Short() || r.IntN(10) == 0 {
			found = append(found, t.UnixNano())
		}
	}
	return found
}

// dateOf is the date that clocks show, as a number that grows.
func dateOf(wall int64, z *time.Location) int {
	year, month, day := time.Unix(0, wall).In(z).Date()
	return (year*12+int(month))*31 + day
}

// TestMidnightTwice: a minute after midnight clocks go back by an hour. The day that began
// goes on, though clocks show the day before for the rest of that hour.
func TestMidnightTwice(t *testing.T) {
	z := zone("America/St_Johns")
	l := NewCalendar(1, Day, z)
	midnight := time.Date(2006, 10, 29, 2, 30, 0, 0, time.UTC).UnixNano()
	for _, after := range []int64{0, minute - 1, minute, hour / 2, hour - 1, hour, 24 * hour} {
		if f := l.Frame(midnight + after); f.From != midnight || f.To != midnight+25*hour {
			t.Errorf("%v: the day is from %v to %v", show(midnight+after, z), show(f.From, z), show(f.To, z))
		}
	}
	if f := l.Frame(midnight - 1); f.To != midnight || f.After != midnight+25*hour {
		t.Errorf("the day before is to %v, the next to %v", show(f.To, z), show(f.After, z))
	}
}

// TestCalendarsJoin: any moment in any zone: windows neither overlap nor leave gaps.
func TestCalendarsJoin(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	for range 20_000 {
		l := NewCalendar(1, Calendar(1+r.IntN(3)), allZones[r.IntN(len(allZones))])
		checkFrame(t, &l, r.Int64N(2*far)-far)
	}
	for _, wall := range []int64{math.MinInt64, math.MinInt64 + 1, math.MaxInt64 - 1, math.MaxInt64} {
		for _, z := range allZones {
			l := NewCalendar(1, Week, z)
			if f := l.Frame(wall); !f.Contains(wall) || f.Before > f.From || f.From >= f.To || f.To > f.After {
				t.Errorf("%v: Frame(%d) = %+v", z, wall, f)
			}
		}
	}
}

// TestCalendarAtRest: a key of a day is not forgotten before the day is over, and then at
// once.
func TestCalendarAtRest(t *testing.T) {
	for _, unit := range []Calendar{Day, Week, Month} {
		for _, z := range allZones {
			l := NewCalendar(2, unit, z)
			for _, text := range []string{"2026-03-29 05:00:00", "2026-10-25 05:00:00", "2026-02-10 05:00:00"} {
				wall := at(t, z, text)
				f := l.Frame(wall)
				var s State
				mustTake(t, &l, &s, wall, 1)
				for _, test := range []struct {
					wall int64
					want bool
				}{{f.From, false}, {wall, false}, {f.To - 1, false}, {f.To, true}, {f.After + 400*day, true}, {f.Before, false}} {
					if got := l.AtRest(s, test.wall); got != test.want {
						t.Errorf("%v, unit %d: AtRest(%v) = %v", z, unit, show(test.wall, z), got)
					}
				}
				s = State{f.To, [3]int64{0, 1}} // a peer's news of the next day was taken back
				if l.AtRest(s, f.To-1) || !l.AtRest(s, f.To) {
					t.Errorf("%v, unit %d: AtRest of a window that is empty: %v, %v", z, unit, l.AtRest(s, f.To-1), l.AtRest(s, f.To))
				}
			}
		}
	}
}

// TestUnknownUnit: defaults of NewCalendar.
func TestUnknownUnit(t *testing.T) {
	for _, unit := range []Calendar{None, Month + 1, 255} {
		if got, want := NewCalendar(0, unit, nil), NewCalendar(1, Day, time.UTC); got != want {
			t.Errorf("unit %d: %+v, want %+v", unit, got, want)
		}
	}
}

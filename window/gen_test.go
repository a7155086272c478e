package window

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
	_ "time/tzdata"

	"pgregory.net/rapid"
)

const (
	ms     = int64(1e6)
	second = int64(1e9)
	minute = 60 * second
	hour   = 3600 * second
	day    = 24 * hour

	// far bounds the times of tests that expect exact answers: 73 years on either side.
	far = int64(1) << 61
)

// edges are the numbers at which int64 arithmetic goes wrong.
var edges = rapid.SampledFrom([]int64{
	math.MinInt64, math.MinInt64 + 1, math.MinInt64 / 2, -far - 1, -far, -1, 0, 1, 2, 3,
	math.MaxInt32, math.MaxInt32 + 1, math.MaxUint32, math.MaxUint32 + 1,
	far - 1, far, far + 1, 2*far - 1, 2 * far, 2*far + 1, math.MaxInt64 - 1, math.MaxInt64,
})

// number is any int64, edges and small numbers often.
var number = rapid.OneOf(edges, rapid.Int64Range(-100, 1000), rapid.Int64())

// anyLimit draws limits of every kind, with numbers as people write them or of any size.
var anyLimit = rapid.Custom(func(t *rapid.T) *Limit {
	events := rapid.OneOf(rapid.Int64Range(1, 100), number).Draw(t, "events")
	per := rapid.OneOf(rapid.SampledFrom([]int64{1, 2, second, minute, hour}), number).Draw(t, "per")
	switch rapid.IntRange(0, 2).Draw(t, "kind") {
	case 0:
		return limitOf(NewFixed(events, per))
	case 1:
		return limitOf(NewSliding(events, per))
	}
	unit := Calendar(rapid.IntRange(0, 4).Draw(t, "unit"))
	zone := rapid.SampledFrom(allZones).Draw(t, "zone")
	return limitOf(NewCalendar(events, unit, zone))
})

func limitOf(l Limit) *Limit { return &l }

// stateOf draws states near a moment, or anywhere, with counts of any size and sign.
func stateOf(l *Limit, f Frame) *rapid.Generator[State] {
	return rapid.Custom(func(t *rapid.T) State {
		count := rapid.OneOf(rapid.Int64Range(0, l.events), rapid.Int64Range(-3, 3), number)
		s := State{From: rapid.OneOf(
			rapid.SampledFrom([]int64{f.Before, f.From, f.To, f.After, subSat(f.Before, l.per), f.From + 1, 0}), number,
		).Draw(t, "from")}
		for i := range s.Counts {
			s.Counts[i] = count.Draw(t, "count")
		}
		return s
	})
}

// Zones of tests: both sides of Greenwich and of the equator, and every oddity: clocks
// that change at midnight, a minute after it, by half an hour; a date left out.
var zoneNames = []string{
	"UTC", "Europe/Paris", "America/Los_Angeles", "America/Sao_Paulo", "America/Havana", "America/St_Johns",
	"Atlantic/Azores", "Asia/Beirut", "Africa/Cairo", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia",
	"Pacific/Kwajalein", "Pacific/Kiritimati", "Asia/Gaza", "America/Asuncion", "Africa/Casablanca", "Asia/Amman",
}

var allZones = func() (zones []*time.Location) {
	for _, name := range zoneNames {
		zones = append(zones, zone(name))
	}
	return zones
}()

func zone(name string) *time.Location {
	z, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	return z
}

// operations is how many a model test makes.
func operations() int {
	if testing.Short() || raceEnabled {
		return 50_000
	}
	return 1_000_000
}

// pick is one of several numbers.
func pick(r *rand.Rand, of ...int64) int64 { return of[r.IntN(len(of))] }

// mustTake takes n and returns what is left.
func mustTake(t testing.TB, l *Limit, s *State, wall, n int64) int64 {
	t.Helper()
	charged, left, retry := l.Take(s, l.Frame(wall), wall, n)
	if retry != 0 || charged < n {
		t.Fatalf("take of %d at %d: charged %d, retry after %d; want it admitted", n, wall, charged, retry)
	}
	return left
}

// mustRefuse asks for n, which must change nothing, and returns the wait.
func mustRefuse(t testing.TB, l *Limit, s *State, wall, n int64) int64 {
	t.Helper()
	f := l.Frame(wall)
	l.Roll(s, f)
	before := *s
	charged, _, retry := l.Take(s, f, wall, n)
	if retry <= 0 || charged != 0 {
		t.Fatalf("take of %d at %d: charged %d, retry after %d; want it refused", n, wall, charged, retry)
	}
	if *s != before {
		t.Fatalf("refused take of %d at %d changed %+v to %+v", n, wall, before, *s)
	}
	return retry
}

package load

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestParsePattern(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Pattern
	}{
		{"even", Pattern{}},
		{"skew=0.9", Pattern{Skew: 0.9}},
		{"skew=1", Pattern{Skew: 1}},
		{"burst=100", Pattern{Burst: 100}},
	} {
		got, err := ParsePattern(tt.text)
		if err != nil || got != tt.want || got.String() != tt.text {
			t.Errorf("ParsePattern(%q) = %+v (%v), %v", tt.text, got, got, err)
		}
	}
	for _, bad := range []string{"", "odd", "even=1", "skew", "skew=0", "skew=1.1", "skew=NaN", "burst", "burst=0", "burst=1.5"} {
		if got, err := ParsePattern(bad); err == nil {
			t.Errorf("ParsePattern(%q) = %+v, want an error", bad, got)
		}
	}
}

func TestPlanSpreads(t *testing.T) {
	for _, tt := range []struct {
		name string
		plan Plan
		want []int // takes by server
	}{
		{"even", Plan{Rate: 100, For: 3 * time.Second, Servers: 3}, []int{100, 100, 100}},
		{"skewed", Plan{Rate: 100, For: 3 * time.Second, Servers: 3, Pattern: Pattern{Skew: 0.9}}, []int{270, 15, 15}},
		{"all on one", Plan{Rate: 100, For: time.Second, Servers: 3, Pattern: Pattern{Skew: 1}}, []int{100, 0, 0}},
		{"skewed, one server", Plan{Rate: 100, For: time.Second, Servers: 1, Pattern: Pattern{Skew: 0.9}}, []int{100}},
		{"bursts", Plan{Rate: 100, For: 3 * time.Second, Servers: 3, Pattern: Pattern{Burst: 30}}, []int{100, 100, 100}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := make([]int, tt.plan.Servers)
			for i := range tt.plan.Len() {
				got[tt.plan.Server(i)]++
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("takes by server %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPlanTimes(t *testing.T) {
	even := Plan{Rate: 200, For: time.Second, Servers: 1}
	if got, want := even.At(3), 15*time.Millisecond; got != want {
		t.Errorf("take 3 at 200/s is due at %v, want %v", got, want)
	}
	burst := Plan{Rate: 200, For: time.Second, Servers: 1, Pattern: Pattern{Burst: 50}}
	for _, i := range []int{50, 73, 99} {
		if got, want := burst.At(i), 250*time.Millisecond; got != want {
			t.Errorf("take %d in bursts of 50 at 200/s is due at %v, want %v", i, got, want)
		}
	}
}

func TestPlanKeys(t *testing.T) {
	const keys = 10
	p := Plan{Rate: 10_000, For: time.Second, Servers: 5, Keys: keys}
	var seen [5][keys]int
	for i := range p.Len() {
		seen[p.Server(i)][p.Key(i)]++
	}
	for server, counts := range seen {
		for key, n := range counts {
			if n < 140 || n > 260 {
				t.Errorf("server %d got key %d %d times, want about 200", server, key, n)
			}
		}
	}
}

func TestPlanValidate(t *testing.T) {
	good := Plan{Rate: 1, For: time.Second, Servers: 1, Keys: 1}
	if err := good.Validate(); err != nil {
		t.Errorf("%+v: %v", good, err)
	}
	bad := Plan{Rate: 0, For: 0, Servers: 0, Keys: 0}
	err := bad.Validate()
	for _, word := range []string{"rate", "run", "servers"} {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not mention the %s", err, word)
		}
	}
	if err := (Plan{Rate: 1e6, For: time.Hour, Servers: 1, Keys: 1}).Validate(); err == nil {
		t.Error("a run of 3.6 billion takes passes")
	}
}

func TestDriveIsOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Plan{Rate: 1000, For: time.Second, Servers: 1, Pattern: Pattern{Burst: 10}}
		start, rests := time.Now(), 0
		n := p.Drive(t.Context(), func(i int) {
			if got, want := time.Since(start), p.At(i); got != want {
				t.Fatalf("take %d went out at %v, want %v", i, got, want)
			}
		}, func() { rests++ })
		if n != 1000 || rests != 100 {
			t.Errorf("%d takes in %d lots, want 1000 in 100", n, rests)
		}
	})
}

func TestDriveStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 99500*time.Microsecond)
		defer cancel()
		p := Plan{Rate: 1000, For: time.Second, Servers: 1}
		if got := p.Drive(ctx, func(int) {}, func() {}); got != 100 {
			t.Errorf("%d takes in 99.5 ms at 1000/s, want 100", got)
		}
	})
}

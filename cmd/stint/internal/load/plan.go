package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// maxTakes bounds the record of one run: about 3 GB.
const maxTakes = 50_000_000

// Plan says which take goes to which server, for which key, and when. It is the same
// on every call: there is no randomness in it but a fixed scatter of the keys.
type Plan struct {
	Rate    float64       // takes a second
	For     time.Duration // how long
	Servers int           // at least 1
	Keys    int           // at least 1
	Pattern Pattern       // default even
}

// Validate reports what is wrong with the plan, everything at once.
func (p Plan) Validate() error {
	var errs []error
	if !(p.Rate > 0) || p.Rate > 1e7 {
		errs = append(errs, fmt.Errorf("a rate of %g takes a second: give one above 0 and up to 10,000,000", p.Rate))
	}
	if p.For <= 0 {
		errs = append(errs, fmt.Errorf("a run of %v: give a time above 0", p.For))
	}
	if p.Servers < 1 || p.Keys < 1 {
		errs = append(errs, fmt.Errorf("%d servers and %d keys: give at least one of each", p.Servers, p.Keys))
	}
	if p.Pattern.Skew < 0 || p.Pattern.Skew > 1 || p.Pattern.Burst < 0 {
		errs = append(errs, fmt.Errorf("pattern %v is out of range", p.Pattern))
	}
	if p.Rate*p.For.Seconds() > maxTakes {
		errs = append(errs, fmt.Errorf("%.0f takes in all: the record holds %d; lower the rate or the time", p.Rate*p.For.Seconds(), maxTakes))
	}
	return errors.Join(errs...)
}

// Len is how many takes there are.
func (p Plan) Len() int { return int(math.Ceil(p.Rate * p.For.Seconds())) }

// At is when take i is due, counted from the start.
func (p Plan) At(i int) time.Duration {
	if b := p.Pattern.Burst; b > 1 {
		i -= i % b
	}
	return time.Duration(float64(i) / p.Rate * float64(time.Second))
}

// Server is where take i goes: to each server in turn, but with a skew that share of
// them to the first and the rest to the others in turn.
func (p Plan) Server(i int) int {
	share := p.Pattern.Skew
	if share == 0 || p.Servers == 1 {
		return i % p.Servers
	}
	before, after := math.Floor(float64(i)*share), math.Floor(float64(i+1)*share)
	if after > before {
		return 0
	}
	return 1 + (i-int(before))%(p.Servers-1)
}

// Key is the number of the key that take i is for: scattered evenly.
func (p Plan) Key(i int) int {
	if p.Keys < 2 {
		return 0
	}
	hi, _ := bits.Mul64(scatter(uint64(i)), uint64(p.Keys))
	return int(hi)
}

// scatter is the finaliser of splitmix64 (Steele, Lea and Flood 2014).
func scatter(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Drive calls send for every take when it is due, in order, and rest after each lot
// that was due at the same time. Neither may block. It returns early, with the number of
// takes called, when the context ends.
func (p Plan) Drive(ctx context.Context, send func(i int), rest func()) int {
	start, timer := time.Now(), time.NewTimer(0)
	defer timer.Stop()
	for i, n := 0, p.Len(); i < n; {
		select {
		case <-ctx.Done():
			return i
		case <-timer.C:
		}
		for i < n && p.At(i) <= time.Since(start) {
			send(i)
			i++
		}
		rest()
		if i < n {
			timer.Reset(p.At(i) - time.Since(start))
		}
	}
	return p.Len()
}

// Pattern is how takes are spread over servers and time. The zero Pattern is even:
// equal gaps, each server in turn.
type Pattern struct {
	Skew  float64 // share of the takes that go to the first server; 0: its equal part
	Burst int     // so many takes at one instant, and then none until the rate is met
}

// ParsePattern reads even, skew=SHARE or burst=N.
func ParsePattern(s string) (Pattern, error) {
	name, value, _ := strings.Cut(s, "=")
	switch name {
	case "even":
		if value == "" {
			return Pattern{}, nil
		}
	case "skew":
		if f, err := strconv.ParseFloat(value, 64); err == nil && f > 0 && f <= 1 {
			return Pattern{Skew: f}, nil
		}
	case "burst":
		if n, err := strconv.Atoi(value); err == nil && n > 0 {
			return Pattern{Burst: n}, nil
		}
	}
	return Pattern{}, fmt.Errorf("pattern %q: give even, skew=0.9 (a share above 0 and up to 1 for the first server) or burst=100 (takes at one instant)", s)
}

// String is the form that ParsePattern reads.
func (p Pattern) String() string {
	switch {
	case p.Skew != 0:
		return fmt.Sprintf("skew=%g", p.Skew)
	case p.Burst != 0:
		return fmt.Sprintf("burst=%d", p.Burst)
	}
	return "even"
}

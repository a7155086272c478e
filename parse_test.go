package stint

import (
	"encoding/json"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestParseLimit(t *testing.T) {
	tests := []struct {
		text string
		want Limit
		back string // canonical text, if it differs
	}{
		{text: "100/s", want: PerSecond(100)},
		{text: "100/min", want: PerMinute(100)},
		{text: "7/h", want: PerHour(7)},
		{text: "1000/day", want: PerDay(1000)},
		{text: "100/sec", want: PerSecond(100), back: "100/s"},
		{text: "100/second", want: PerSecond(100), back: "100/s"},
		{text: "100/1s", want: PerSecond(100), back: "100/s"},
		{text: "100/m", want: PerMinute(100), back: "100/min"},
		{text: "100/minute", want: PerMinute(100), back: "100/min"},
		{text: "100/60s", want: PerMinute(100), back: "100/min"},
		{text: "7/hour", want: PerHour(7), back: "7/h"},
		{text: "3/d", want: PerDay(3), back: "3/day"},
		{text: "3/24h", want: PerDay(3), back: "3/day"},
		{text: "5/10m", want: Limit{Events: 5, Per: 10 * time.Minute}},
		{text: "1/3s", want: Limit{Events: 1, Per: 3 * time.Second}}, // case 30
		{text: "11/2000s", want: Limit{Events: 11, Per: 2000 * time.Second}, back: "11/33m20s"},
		{text: "5/week", want: Limit{Events: 5, Per: 7 * day}},
		{text: "5/w", want: Limit{Events: 5, Per: 7 * day}, back: "5/week"},
		{text: "5/168h", want: Limit{Events: 5, Per: 7 * day}, back: "5/week"},
		{text: "5/720h", want: Limit{Events: 5, Per: 30 * day}},
		{text: "5/1h30m", want: Limit{Events: 5, Per: 90 * time.Minute}},
		{text: "5/1h0m5s", want: Limit{Events: 5, Per: time.Hour + 5*time.Second}},
		{text: "5/20ms", want: Limit{Events: 5, Per: 20 * time.Millisecond}},
		{text: "5/1.5s", want: Limit{Events: 5, Per: 1500 * time.Millisecond}},
		{text: "20/s burst=50", want: PerSecond(20).WithBurst(50)},
		{text: "20/s burst=20", want: PerSecond(20), back: "20/s"},
		{text: "  20/s \t burst=50\n", want: PerSecond(20).WithBurst(50), back: "20/s burst=50"},
		{text: "5/10m algorithm=sliding-window", want: Limit{Events: 5, Per: 10 * time.Minute, Algorithm: SlidingWindow}},
		{text: "5/s algorithm=token-bucket mode=shared", want: PerSecond(5), back: "5/s"},
		{text: "1000/day mode=strict", want: PerDay(1000).WithMode(Strict)},
		{text: "1/s mode=local algorithm=leaky-bucket burst=9", want: PerSecond(1).WithBurst(9).WithAlgorithm(LeakyBucket).WithMode(Local),
			back: "1/s burst=9 algorithm=leaky-bucket mode=local"},
		{text: "1/s name=api/v1:users", want: PerSecond(1).WithName("api/v1:users"), back: "1/s"},
		{text: "9223372036854775807/s", want: PerSecond(math.MaxInt64)}, // case 7
		{text: "1000/day algorithm=fixed-window calendar=day zone=Europe/Paris",
			want: PerDay(1000).WithAlgorithm(FixedWindow).WithCalendar(CalendarDay, "Europe/Paris")},
		{text: "1000/24h zone=UTC calendar=day", want: PerDay(1000).WithAlgorithm(FixedWindow).WithCalendar(CalendarDay, ""),
			back: "1000/day algorithm=fixed-window calendar=day"},
		{text: "5/week calendar=week mode=local", want: Limit{Events: 5, Per: 7 * day, Algorithm: FixedWindow, Calendar: CalendarWeek, Mode: Local},
			back: "5/week algorithm=fixed-window calendar=week mode=local"},
		{text: "5/month calendar=month", want: Limit{Events: 5, Per: 30 * day, Algorithm: FixedWindow, Calendar: CalendarMonth},
			back: "5/month algorithm=fixed-window calendar=month"},
		{text: "5/720h calendar=month", want: Limit{Events: 5, Per: 30 * day, Algorithm: FixedWindow, Calendar: CalendarMonth},
			back: "5/month algorithm=fixed-window calendar=month"},
		{text: "5/day calendar=none", want: PerDay(5), back: "5/day"},
		{text: "unlimited", want: Unlimited()},
		{text: "unlimited mode=local name=free", want: Unlimited().WithName("free"), back: "unlimited"},
		{text: "blocked", want: Blocked()},
		{text: "0/s", want: Blocked(), back: "blocked"}, // case 22: zero events block
		{text: "0/10m burst=5 algorithm=sliding-log mode=strict", want: Blocked(), back: "blocked"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseLimit(tt.text)
			if err != nil || got != tt.want {
				t.Fatalf("got %+v, %v, want %+v", got, err, tt.want)
			}
			if tt.back == "" {
				tt.back = tt.text
			}
			if got := got.String(); got != tt.back {
				t.Errorf("got text %q, want %q", got, tt.back)
			}
		})
	}
}

// Case 22: an absent or negative limit is an error that names what to change.
func TestParseLimitFaults(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"", []string{"limit is empty", "100/min"}},
		{" \n", []string{"limit is empty"}},
		{"100", []string{`"100" is no rate`, "events/period"}},
		{"none", []string{`"none" is no rate`}},
		{"100 / min", []string{`"100" is no rate`, `"/" is no option`, `"min" is no option`}},
		{"100/", []string{`unknown period ""`}},
		{"/s", []string{`events "" is no whole number`}},
		{"100/fortnight", []string{`unknown period "fortnight"`, "min, h, day, week"}},
		{"100/month", []string{`"100/month" needs calendar=month: add it, or write 720h`}},
		{"100/month algorithm=sliding-window", []string{"needs calendar=month"}},
		{"100/month calendar=day", []string{"needs calendar=month"}},
		{"0.5/month calendar=month", []string{"is no whole number: use a positive"}},
		{"100/day calendar=month", []string{"Per is 24h0m0s, but Calendar is month", "100/month"}},
		{"100/day calendar=dy", []string{`unknown calendar "dy"`, "none, day, week, month"}},
		{"100/day calendar=day algorithm=token-bucket", []string{"token-bucket has no calendar", "use fixed-window"}},
		{"100/day calendar=day algorithm=sliding-log", []string{"sliding-log has none", "use fixed-window"}},
		{"100/day calendar=day calendar=day zone=UTC zone=UTC", []string{"calendar is given twice", "zone is given twice"}},
		{"100/day zone=Europe/Paris", []string{"without a Calendar"}},
		{"100/day calendar=day zone=", []string{"zone is empty"}},
		{"100/day calendar=day zone=Europe/Pariss", []string{`Zone "Europe/Pariss" is unknown`, "IANA"}},
		{"unlimited calendar=day", []string{"Calendar is day on an unlimited limit"}},
		{"100/999us algorithm=sliding-window", []string{"use at least 1ms with sliding-window"}},
		{"100/MIN", []string{`unknown period "MIN"`}},
		{"100/0s", []string{`period "0s" is not positive`}},
		{"100/-3s", []string{`period "-3s" is not positive`}},
		{"100/s/s", []string{`unknown period "s/s"`}},
		{"100/99999999h", []string{`unknown period`}},
		{"1/90000h", []string{"Per is 90000h", "ten years"}},
		{"-1/s", []string{`events "-1" is negative`, "0 to block"}},
		{"ten/s", []string{`events "ten" is no whole number`}},
		{"0x10/s", []string{`events "0x10" is no whole number`}},
		{"1_000/s", []string{`events "1_000" is no whole number`}},
		{"9223372036854775808/s", []string{`out of range`, "9223372036854775807"}},
		{"0.5/s", []string{`events "0.5" is no whole number: write 1/2s`}},
		{"0.0055/s", []string{"write 11/33m20s"}},
		{"2.50/min", []string{"write 5/2m"}},
		{"0.0/s", []string{"0 to block"}},
		{"0.00000000001/h", []string{"is no whole number: use"}},
		{"x/y burst=z", []string{`events "x"`, `period "y"`, `burst "z"`}},
		{"1/s burst", []string{`"burst" is no option`, "burst, algorithm, calendar, zone, mode, name"}},
		{"1/s burts=5", []string{`unknown option "burts"`, "burst, algorithm, calendar, zone, mode, name"}},
		{"1/s burst=", []string{`burst "" is no whole number`}},
		{"1/s burst=0", []string{"burst 0 would admit nothing"}},
		{"1/s burst=00", []string{"burst 0 would admit nothing"}},
		{"1/s burst=-2", []string{`burst "-2" is negative: use a positive number`}},
		{"1/s burst=2 burst=2", []string{"option burst is given twice"}},
		{"1/s mode=local mode=shared", []string{"option mode is given twice"}},
		{"1/s mode=redis", []string{`unknown mode "redis"`, "shared, local, strict"}},
		{"1/s algorithm=gcra", []string{`unknown algorithm "gcra"`, "token-bucket, leaky-bucket"}},
		{"1/s algorithm=unlimited", []string{"write unlimited in place of the rate"}},
		{"unlimited algorithm=token-bucket", []string{"says nothing on an unlimited limit"}},
		{"unlimited burst=5", []string{"Burst is 5 on an unlimited limit"}},
		{"1/s name=", []string{"name is empty"}},
		{`1/s name="a"`, []string{"Name has a space, a quote"}},
		{"1/s name=a=b", []string{"Name has a space, a quote"}},
		{"1/s name=10/s", []string{"Name reads as a rate"}},
		{"1/s name=unlimited", []string{"Name reads as a rate"}},
		{"1/s name=" + strings.Repeat("x", 129), []string{"Name has 129 bytes", "(138 bytes)"}},
		{"1/s" + strings.Repeat(" x", 600), []string{"use at most 1024 bytes", "(1203 bytes)"}},
		{"1/h burst=641000", []string{"Burst is 641000", "use at most 640511"}},
		{"1/s algorithm=fixed-window burst=5", []string{"fixed-window has none"}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseLimit(tt.text)
			if err == nil || got != (Limit{}) {
				t.Fatalf("got %+v, %v, want an error and no limit", got, err)
			}
			for line := range strings.SplitSeq(err.Error(), "\n") {
				if !strings.HasPrefix(line, "limit ") {
					t.Errorf("got line %q, want it to say that a limit is wrong", line)
				}
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("got %q, want it to say %q", err, want)
				}
			}
		})
	}
}

// The limits of docs/algorithms.md are ones.
func TestDocumentedLimits(t *testing.T) {
	page, err := os.ReadFile("docs/algorithms.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("`([0-9]+/[^`]+)`").FindAllSubmatch(page, -1)
	for _, text := range found {
		if _, err := ParseLimit(string(text[1])); err != nil {
			t.Error(err)
		}
	}
	if len(found) < 10 {
		t.Errorf("got %d limits, want at least 10", len(found))
	}
}

// anyLimit draws valid limits, with defaults left out as often as spelled out.
func anyLimit(t *rapid.T) Limit {
	l := Limit{
		Name:      rapid.StringMatching(`[a-z][a-z0-9/.:{}_-]{0,20}|`).Draw(t, "name"),
		Events:    rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, math.MaxInt64)).Draw(t, "events"),
		Per:       time.Duration(rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, int64(maxPer))).Draw(t, "per")),
		Algorithm: rapid.SampledFrom([]Algorithm{TokenBucket, LeakyBucket, FixedWindow, SlidingWindow, SlidingLog}).Draw(t, "algorithm"),
		Mode:      rapid.SampledFrom([]Mode{Shared, Local, Strict}).Draw(t, "mode"),
		Calendar:  rapid.SampledFrom([]Calendar{NoCalendar, NoCalendar, NoCalendar, CalendarDay, CalendarWeek, CalendarMonth}).Draw(t, "calendar"),
	}
	if l.Calendar != NoCalendar {
		l.Algorithm = rapid.SampledFrom([]Algorithm{TokenBucket, FixedWindow}).Draw(t, "algorithm by calendar")
		l.Per = rapid.SampledFrom([]time.Duration{0, l.Calendar.nominal()}).Draw(t, "per by calendar")
		l.Zone = rapid.SampledFrom([]string{"", "UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "Etc/GMT+12"}).Draw(t, "zone")
	}
	if l.Per > 0 && l.algorithm().hasWindow() {
		l.Per = max(l.Per, minWindow)
	}
	if l.unset() {
		l.Per = time.Second
	}
	if l.Events > 0 && l.algorithm().hasBurst() {
		l.Burst = rapid.Int64Range(0, l.maxBurst()).Draw(t, "burst")
	}
	return rapid.SampledFrom([]Limit{l, l, l, Blocked(), Unlimited()}).Draw(t, "limit").WithName(l.Name)
}

func TestLimitTextRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := anyLimit(t)
		got, err := ParseLimit(want.String())
		if err != nil || got.withDefaults() != want.WithName("").withDefaults() {
			t.Fatalf("text %q: got %+v, %v, want %+v", want, got, err, want)
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &got); err != nil || got != want.canonical() {
			t.Fatalf("JSON %s: got %+v, %v, want %+v", text, got, err, want.canonical())
		}
	})
}

func FuzzParseLimit(f *testing.F) {
	for _, text := range []string{
		"100/min", "5/10m algorithm=sliding-window", "1/3s", "20/s burst=50 mode=local name=a/b", "1000/day mode=strict",
		"unlimited", "blocked", "0/s", "0.25/s", "9223372036854775807/1ns burst=9223372036854775807", "1/1h0m0.5s", "-1/µs",
		"7/week zone=Etc/GMT+5 calendar=week", "10000/month calendar=month zone=UTC", "1/month calendar=none", "1/720h calendar=month",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseLimit(text)
		if err != nil {
			if l != (Limit{}) || strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' && r != '\n' }) {
				t.Fatalf("got %+v, %q", l, err)
			}
			return
		}
		if err := l.Validate(); err != nil {
			t.Fatalf("%q parses, but: %v", text, err)
		}
		canonical, err := l.MarshalText()
		if err != nil {
			t.Fatal(err)
		}
		back, err := ParseLimit(string(canonical))
		if err != nil || back != l {
			t.Fatalf("%q became %q: got %+v, %v, want %+v", text, canonical, back, err, l)
		}
		again, _ := back.MarshalText()
		if !slices.Equal(again, canonical) {
			t.Fatalf("got %q the second time, want %q", again, canonical)
		}
	})
}

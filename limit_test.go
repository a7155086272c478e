package stint

import (
	"encoding"
	"errors"
	"math"
	"strings"
	"testing"
	"time"
)

func TestLimitValidate(t *testing.T) {
	const most = math.MaxInt64
	tests := []struct {
		name  string
		limit Limit
		want  []string // one for each line of the error; none: valid
	}{
		{"per second", PerSecond(1), nil},
		{"period left out", Limit{Events: 1}, nil},
		{"blocked", Blocked(), nil},
		{"no events", Limit{Per: time.Minute, Burst: 3, Algorithm: SlidingLog}, nil},
		{"unlimited", Unlimited(), nil},
		{"unlimited, but local", Unlimited().WithMode(Local), nil},
		{"largest", Limit{Events: most, Per: maxPer, Burst: most}, nil},
		{"fastest", Limit{Events: most, Per: 1, Burst: most}, nil},
		{"slowest", Limit{Events: 1, Per: maxPer, Burst: 7}, nil},
		{"burst of a window spelled out", PerSecond(5).WithAlgorithm(FixedWindow).WithBurst(5), nil},
		// Case 22: absent, then negative.
		{"absent", Limit{}, []string{"limit: Events and Per are not set"}},
		{"absent but for its name", Limit{Name: "api"}, []string{`limit "api": Events and Per are not set`}},
		{"only a burst", Limit{Burst: 5}, []string{"Events and Per are not set"}},
		{"negative events", PerSecond(-1), []string{"Events is -1: use a positive number, or 0 to block"}},
		{"negative everything", Limit{Name: "a b", Events: -1, Per: -1, Burst: -1, Algorithm: 77, Mode: 88}, []string{
			"Name has a space", "Events is -1", "Per is -1ns", "Burst is -1", "Algorithm is 77", "Mode is 88",
		}},
		{"period of eleven years", Limit{Events: 1, Per: 11 * 365 * day}, []string{"Per is 96360h0m0s: use at most 87648h"}},
		{"period of 292 years", Limit{Events: 1, Per: math.MaxInt64, Burst: 2}, []string{"Per is", "Burst is 2"}},
		{"refill of a century", PerDay(1).WithBurst(36500), []string{"Burst is 36500, which takes over 70 years to refill: use at most 26687"}},
		{"endless refill", Limit{Events: 1, Per: maxPer, Burst: most}, []string{"use at most 7, or more Events"}},
		{"burst of a window", PerSecond(5).WithAlgorithm(SlidingLog).WithBurst(6), []string{"sliding-log has none: leave it out, or use token-bucket"}},
		{"numbers on unlimited", Limit{Events: 5, Burst: 6, Algorithm: Unmetered}, []string{"Events is 5 on an unlimited", "Burst is 6 on an unlimited"}},
		{"day of the calendar", PerDay(5).WithCalendar(CalendarDay, "Europe/Paris"), nil},
		{"calendar spelled out", PerDay(5).WithAlgorithm(FixedWindow).WithCalendar(CalendarDay, "UTC"), nil},
		{"calendar and no period", Limit{Events: 5, Calendar: CalendarMonth}, nil},
		{"calendar of no events", Limit{Per: 1, Algorithm: SlidingLog, Calendar: CalendarWeek, Zone: "UTC"}, nil},
		{"shortest window", Limit{Events: 5, Per: time.Millisecond, Algorithm: SlidingLog}, nil},
		{"window too short", Limit{Events: 5, Per: 999 * time.Microsecond, Algorithm: FixedWindow}, []string{"Per is 999µs: use at least 1ms with fixed-window, or token-bucket"}},
		{"calendar that is none", Limit{Events: 5, Calendar: 9}, []string{"Calendar is 9: use CalendarDay"}},
		{"calendar of a bucket", PerDay(5).WithAlgorithm(LeakyBucket).WithCalendar(CalendarDay, ""), []string{"Calendar is day, but leaky-bucket has none: leave it out, or use fixed-window"}},
		{"calendar of another length", PerHour(5).WithCalendar(CalendarMonth, ""), []string{"Per is 1h0m0s, but Calendar is month: use 720h0m0s, in text 5/month"}},
		{"calendar with a burst", PerDay(5).WithBurst(6).WithCalendar(CalendarDay, ""), []string{"Burst is 6, but fixed-window has none"}},
		{"calendar on unlimited", Unlimited().WithCalendar(CalendarDay, ""), []string{"Calendar is day on an unlimited limit"}},
		{"zone without a calendar", PerDay(5).WithCalendar(NoCalendar, "UTC"), []string{`Zone is "UTC" without a Calendar`}},
		{"zone of nowhere", PerDay(5).WithCalendar(CalendarDay, "Mars/Olympus"), []string{`Zone "Mars/Olympus" is unknown: use an IANA name such as Europe/Paris`}},
		{"all that a calendar forbids", PerHour(5).WithAlgorithm(SlidingLog).WithCalendar(CalendarDay, "Local"), []string{
			"but sliding-log has none", "use 24h0m0s, in text 5/day", `Zone "Local" differs from node to node`,
		}},
		{"long name", PerSecond(1).WithName(strings.Repeat("n", 129)), []string{"Name has 129 bytes: use at most 128"}},
		{"broken name", PerSecond(1).WithName("a\xff"), []string{"not valid UTF-8"}},
		{"name of two lines", PerSecond(1).WithName("a\nb"), []string{`limit "a\nb": Name has`}},
		{"name like the text of another", PerSecond(1).WithName("100/min"), []string{"Name reads as a rate"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.limit.Validate()
			if len(tt.want) == 0 {
				if err != nil {
					t.Errorf("got %v, want none", err)
				}
				return
			}
			if err == nil {
				t.Fatal("got no error")
			}
			lines := strings.Split(err.Error(), "\n")
			if got, want := len(lines), len(tt.want); got != want {
				t.Fatalf("got %d faults, want %d:\n%v", got, want, err)
			}
			for i, want := range tt.want {
				if !strings.HasPrefix(lines[i], "limit") || !strings.Contains(lines[i], want) {
					t.Errorf("got %q, want it to say %q", lines[i], want)
				}
			}
			if text, err := tt.limit.MarshalText(); err == nil {
				t.Errorf("got text %q of a limit that is not valid", text)
			}
		})
	}
}

func TestLimitDefaults(t *testing.T) {
	tests := []struct{ limit, want Limit }{
		{Limit{Events: 5}, Limit{Events: 5, Per: time.Second, Burst: 5}},
		{Limit{Name: "n", Events: 5, Per: time.Hour, Burst: 9, Mode: Local}, Limit{Name: "n", Events: 5, Per: time.Hour, Burst: 9, Mode: Local}},
		{Limit{Name: "n", Per: time.Hour, Burst: 9, Algorithm: SlidingLog, Mode: Strict}, Blocked().WithName("n")},
		{Unlimited().WithName("n").WithMode(Strict), Unlimited().WithName("n")},
		{Limit{Events: 5, Calendar: CalendarWeek}, Limit{Events: 5, Per: week, Burst: 5, Algorithm: FixedWindow, Calendar: CalendarWeek, Zone: "UTC"}},
		{Limit{Per: day, Calendar: CalendarDay, Zone: "Asia/Tokyo"}, Blocked()},
	}
	for _, tt := range tests {
		if got := tt.limit.withDefaults(); got != tt.want {
			t.Errorf("%+v: got %+v, want %+v", tt.limit, got, tt.want)
		}
		if got := tt.want.withDefaults(); got != tt.want {
			t.Errorf("%+v: got %+v the second time", tt.want, got)
		}
	}
	if got, want := PerSecond(0), Blocked(); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got, want := (Limit{Name: "n"}).String(), "unset"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSupported(t *testing.T) {
	for _, l := range []Limit{PerSecond(1), PerSecond(1).WithMode(Local), Unlimited(), Blocked(),
		Unlimited().WithMode(Strict), Blocked().WithAlgorithm(SlidingLog), PerSecond(1).WithAlgorithm(LeakyBucket),
		PerSecond(1).WithAlgorithm(FixedWindow), PerSecond(1).WithAlgorithm(SlidingWindow), PerSecond(1).WithAlgorithm(SlidingLog),
		PerDay(1).WithCalendar(CalendarDay, "Europe/Paris")} {
		if err := supported(l); err != nil {
			t.Errorf("%+v: got %v, want it supported", l, err)
		}
	}
	tests := []struct {
		limit Limit
		want  string
	}{
		{PerSecond(1).WithMode(Strict), "limit: mode strict is not supported yet: use shared or local"},
		{PerSecond(1).WithName("api").WithMode(Strict).WithAlgorithm(LeakyBucket), `limit "api": mode strict is not supported yet`},
	}
	for _, tt := range tests {
		err := supported(tt.limit)
		if !errors.Is(err, ErrNotSupported) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: got %v, want ErrNotSupported that says %q", tt.limit, err, tt.want)
		}
		if err := tt.limit.Validate(); err != nil {
			t.Errorf("%+v: got %v, want it valid", tt.limit, err)
		}
	}
}

// word is what Algorithm, Mode and Source have in common.
type word interface {
	comparable
	encoding.TextMarshaler
	String() string
}

func testWords[E word, P interface {
	*E
	encoding.TextUnmarshaler
}](t *testing.T, past E, wants map[E]string) {
	t.Helper()
	for v, want := range wants {
		if got := v.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
		text, err := v.MarshalText()
		if err != nil || string(text) != want {
			t.Errorf("got %q, %v, want %q", text, err, want)
		}
		var back E
		if err := P(&back).UnmarshalText(text); err != nil || back != v {
			t.Errorf("%q: got %v, %v", text, back, err)
		}
	}
	if text, err := past.MarshalText(); err == nil {
		t.Errorf("got %q for a value without a word", text)
	}
	var back E
	if err := P(&back).UnmarshalText([]byte("Nonsense\n")); err == nil || !strings.Contains(err.Error(), `"Nonsense\n": use one of `) {
		t.Errorf("got %v, want an error that lists the words", err)
	}
}

func TestWords(t *testing.T) {
	testWords(t, Algorithm(6), map[Algorithm]string{
		TokenBucket: "token-bucket", LeakyBucket: "leaky-bucket", FixedWindow: "fixed-window",
		SlidingWindow: "sliding-window", SlidingLog: "sliding-log", Unmetered: "unlimited",
	})
	testWords(t, Calendar(4), map[Calendar]string{
		NoCalendar: "none", CalendarDay: "day", CalendarWeek: "week", CalendarMonth: "month",
	})
	testWords(t, Mode(3), map[Mode]string{Shared: "shared", Local: "local", Strict: "strict"})
	testWords(t, Source(4), map[Source]string{
		SourceLocal: "local", SourceShared: "shared", SourceStrict: "strict", SourceFallback: "fallback",
	})
	if got, want := Source(9).String(), "source(9)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

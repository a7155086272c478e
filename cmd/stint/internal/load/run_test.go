package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stint-go/stint/bucket"
)

// fleet is servers that speak as daemons do, with one bucket between them.
type fleet struct {
	limits  []string // by server; "" has none
	state   string   // of the members
	stamped bool
	take    func(server int, w http.ResponseWriter) (handled bool)

	mu      sync.Mutex
	bucket  bucket.Limit
	key     map[string]bucket.State
	addrs   []string
	servers []*httptest.Server
}

func newFleet(t *testing.T, n int) *fleet {
	f := &fleet{state: "alive", stamped: true, bucket: bucket.New(100, int64(time.Second), 100), key: map[string]bucket.State{}}
	for j := range n {
		f.limits = append(f.limits, "100/s")
		s := httptest.NewServer(f.handler(j))
		t.Cleanup(s.Close)
		f.addrs, f.servers = append(f.addrs, s.Listener.Addr().String()), append(f.servers, s)
	}
	return f
}

func (f *fleet) handler(j int) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/take", func(w http.ResponseWriter, r *http.Request) {
		var ask struct{ Limit, Key string }
		if err := json.NewDecoder(r.Body).Decode(&ask); err != nil || ask.Limit != "api" {
			http.Error(w, "bad", http.StatusBadRequest)
			return
		}
		if f.take != nil && f.take(j, w) {
			return
		}
		f.mu.Lock()
		now := time.Now().UnixNano()
		s, ok := f.bucket.Take(f.key[ask.Key], now, 1)
		f.key[ask.Key] = s
		f.mu.Unlock()
		if f.stamped {
			w.Header().Set(DecidedAt, fmt.Sprint(now, " ", now+1000))
		}
		if !ok {
			w.WriteHeader(http.StatusTooManyRequests)
		}
		io.WriteString(w, `{}`)
	})
	mux.HandleFunc("GET /v1/limits", func(w http.ResponseWriter, r *http.Request) {
		if f.limits[j] == "" {
			io.WriteString(w, `{"limits":[]}`)
			return
		}
		fmt.Fprintf(w, `{"limits":[{"name":"api","limit":%q}]}`, f.limits[j])
	})
	mux.HandleFunc("GET /v1/members", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"members":[{"self":true,"state":"alive","lag_max_ms":999},{"state":%q,"lag_max_ms":3.5}]}`, f.state)
	})
	mux.HandleFunc("GET /v1/stats", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"nodes":%d,"gap_ms":2}`, len(f.addrs))
	})
	mux.HandleFunc("GET /v1/peek", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"reset_after":0}`)
	})
	return mux
}

func (f *fleet) config() Config {
	return Config{
		Plan:  Plan{Rate: 2000, For: 200 * time.Millisecond},
		Addrs: f.addrs, Limit: "api", KeyName: "k",
	}
}

func TestRun(t *testing.T) {
	for _, stamped := range []bool{true, false} {
		t.Run(fmt.Sprintf("stamped=%v", stamped), func(t *testing.T) {
			f := newFleet(t, 3)
			f.stamped = stamped
			r, err := Run(t.Context(), f.config())
			if err != nil {
				t.Fatal(err)
			}
			if r.Asked != 400 || r.Admitted+r.Refused != 400 {
				t.Errorf("asked %d, answered %d, want 400", r.Asked, r.Admitted+r.Refused)
			}
			if r.Admitted < 100 || r.Broken || r.Bound == nil {
				t.Errorf("admitted %d (central %d), excess %g, bound %v, broken %v", r.Admitted, r.Central, r.Excess, r.Bound, r.Broken)
			}
			if stamped && (r.Ratio < 0.99 || r.Ratio > 1.01) {
				t.Errorf("one bucket admitted %d, the central one %d", r.Admitted, r.Central)
			}
			if r.Age != 5.5 || r.Gap != 2 || r.Nodes != 3 || !r.InTouch {
				t.Errorf("news age %g, gap %g, nodes %d, in touch %v, want 5.5, 2, 3, true", r.Age, r.Gap, r.Nodes, r.InTouch)
			}
			for _, s := range r.Servers {
				if s.Asked < 133 || s.Asked > 134 {
					t.Errorf("server %s was asked %d times, want a third of 400", s.Addr, s.Asked)
				}
			}
		})
	}
}

func TestRunManyKeys(t *testing.T) {
	f := newFleet(t, 2)
	cfg := f.config()
	cfg.Keys = 20
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Admitted != 400 || r.Central != 400 {
		t.Errorf("admitted %d, central %d, want all 400: 20 keys of 100 each", r.Admitted, r.Central)
	}
	if len(f.key) != 20 {
		t.Errorf("%d keys were asked for, want 20", len(f.key))
	}
}

// A server that hangs must not hold up what goes to the others, nor what is due later.
func TestRunIsOpenLoop(t *testing.T) {
	f := newFleet(t, 2)
	release := make(chan struct{})
	var others sync.WaitGroup
	others.Add(1000)
	f.take = func(j int, w http.ResponseWriter) bool {
		if j == 1 {
			others.Done()
			return false
		}
		<-release
		return false
	}
	go func() {
		others.Wait() // all that is due at the good server is answered, though the bad one answers nothing
		close(release)
	}()
	cfg := f.config()
	cfg.Rate = 10_000
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Admitted+r.Refused != 2000 {
		t.Errorf("answered %d, want 2000", r.Admitted+r.Refused)
	}
}

func TestRunBoundsWhatWaits(t *testing.T) {
	f := newFleet(t, 1)
	release := make(chan struct{})
	f.take = func(int, http.ResponseWriter) bool { <-release; return false }
	out := &watchedBuffer{word: "asked 5000 ", seen: sync.OnceFunc(func() { close(release) })}
	cfg := f.config()
	cfg.Rate, cfg.For, cfg.Progress = 50_000, 100*time.Millisecond, out
	r, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Unsent != 5000-mostWaiting || r.Admitted+r.Refused != mostWaiting {
		t.Errorf("unsent %d, answered %d, want %d and %d", r.Unsent, r.Admitted+r.Refused, 5000-mostWaiting, mostWaiting)
	}
	if want := fmt.Sprintf("unsent %d", 5000-mostWaiting); !strings.Contains(out.text, want) {
		t.Errorf("progress does not tell %q:\n%s", want, out.text)
	}
}

// watchedBuffer calls seen when a write has the word in it.
type watchedBuffer struct {
	word string
	seen func()
	text string
}

func (b *watchedBuffer) Write(p []byte) (int, error) {
	b.text += string(p)
	if strings.Contains(string(p), b.word) {
		b.seen()
	}
	return len(p), nil
}

// A server that dies takes down what was under way to it, and nothing else; when it is
// back, it is driven again.
func TestRunSurvivesAServer(t *testing.T) {
	f := newFleet(t, 2)
	var once, back sync.Once
	asked, returned := 0, make(chan struct{})
	f.take = func(j int, w http.ResponseWriter) bool {
		if j == 1 {
			return false
		}
		f.mu.Lock()
		asked++
		n := asked
		f.mu.Unlock()
		if n < 50 {
			return false
		}
		if n == 50 {
			once.Do(func() { // as if killed: the connection breaks without an answer
				conn, _, err := w.(http.Hijacker).Hijack()
				if err == nil {
					conn.Close()
				}
			})
			return true
		}
		back.Do(func() { close(returned) })
		return false
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cfg := f.config()
	cfg.For = time.Hour / 1000
	stop, stopped := context.WithCancel(ctx)
	go func() {
		select {
		case <-returned:
		case <-ctx.Done():
		}
		stopped()
	}()
	r, err := Run(stop, cfg)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-returned:
	default:
		t.Error("the server was not driven again")
	}
	bad, good := r.Servers[0], r.Servers[1]
	if bad.Failed == 0 || good.Failed+good.Unsent != 0 {
		t.Errorf("bad server %+v, good server %+v", bad, good)
	}
}

func TestRunNotes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		setup func(*fleet)
		note  string
	}{
		{"a member away", func(f *fleet) { f.state = "dead" }, "away"},
		{"not shared", func(f *fleet) { f.limits = []string{"100/s mode=local", "100/s mode=local"} }, "mode local"},
		{"a window", func(f *fleet) {
			f.limits = []string{"100/h algorithm=fixed-window", "100/h algorithm=fixed-window"}
		}, "this limit is a fixed-window"},
		{"not one cluster", func(f *fleet) { f.addrs = f.addrs[:1:1] }, "not one cluster"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet(t, 2)
			cfg := f.config()
			tt.setup(f)
			r, err := Run(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if r.Bound != nil || r.Broken || !strings.Contains(strings.Join(r.Notes, "\n"), tt.note) {
				t.Errorf("bound %v, broken %v, notes %q, want no bound and a note with %q", r.Bound, r.Broken, r.Notes, tt.note)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	for _, tt := range []struct {
		name  string
		setup func(*fleet, *Config)
		want  string
	}{
		{"no such limit", func(f *fleet, _ *Config) { f.limits[1] = "" }, "--limit api=100/s"},
		{"limits differ", func(f *fleet, _ *Config) { f.limits[1] = "200/s" }, "give all servers the same"},
		{"nothing to judge", func(f *fleet, _ *Config) { f.limits[0], f.limits[1] = "unlimited", "unlimited" }, "with a rate"},
		{"no server", func(_ *fleet, c *Config) { c.Addrs = []string{closed.Addr().String()} }, "connection refused"},
		{"no rate", func(_ *fleet, c *Config) { c.Rate = 0 }, "rate"},
		{"nothing but errors", func(f *fleet, _ *Config) {
			f.take = func(_ int, w http.ResponseWriter) bool { w.WriteHeader(500); return true }
		}, "no take was answered"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFleet(t, 2)
			cfg := f.config()
			tt.setup(f, &cfg)
			_, err := Run(t.Context(), cfg)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func TestReportJSONNames(t *testing.T) {
	text, err := json.Marshal(&Report{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"limit", "pattern", "rate", "seconds", "keys", "nodes", "news_age_ms", "gap_ms", "in_touch",
		"asked", "admitted", "refused", "failed", "unsent", "central", "ratio", "excess", "excess_percent",
		"bound", "bound_broken", "beyond_bound", "latency_ms", "servers",
	} {
		if !strings.Contains(string(text), `"`+name+`":`) {
			t.Errorf("field %q is gone: scripts read it\n%s", name, text)
		}
	}
}

func TestPrint(t *testing.T) {
	bound := 12.0
	r := &Report{Limit: "100/s", Pattern: "even", Rate: 500, Seconds: 2, Keys: 1, Nodes: 2, Age: 3}
	r.Result = Result{Asked: 1000, Admitted: 303, Refused: 697, Central: 300, Ratio: 1.01, Excess: 3, Percent: 3, Bound: &bound,
		Servers: []Server{{Addr: "a:1", Asked: 500}, {Addr: "b:1", Asked: 500}}}
	r.Notes = []string{"A note."}
	var out strings.Builder
	r.Print(&out)
	for _, want := range []string{"a:1", "1.0100", "3.0 events", "12.0 events", "kept at every instant", "A note."} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
	r.Broken, r.Beyond = true, 7
	out.Reset()
	if r.Print(&out); !strings.Contains(out.String(), "BROKEN by 7.0") {
		t.Errorf("a broken bound is not shouted about:\n%s", out.String())
	}
}

package daemon

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// limitsOfAlone are the limits of a daemon for tests.
var limitsOfAlone = map[string]string{
	"api": "100/h", "web": "5/h", "free": "unlimited", "shut": "blocked",
	"day":  "100/day algorithm=fixed-window calendar=day zone=Europe/Paris",
	"send": "1/10s burst=3 algorithm=leaky-bucket",
	"log":  "5/h algorithm=sliding-log mode=local",
}

// alone is the daemon of a node without peers.
func alone(t *testing.T) (*Daemon, http.Handler) {
	node, err := stint.Open(stint.Config{Name: "alone"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close(context.Background()) })
	for name, text := range limitsOfAlone {
		limit, err := stint.ParseLimit(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := node.SetLimit(limit.WithName(name)); err != nil {
			t.Fatal(err)
		}
	}
	d := New(node, slog.New(slog.DiscardHandler))
	return d, d.Handler()
}

// ask makes one call and returns its status and its body, read as JSON.
func call(t *testing.T, h http.Handler, method, path, body string) (*http.Response, map[string]any) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(method, path, strings.NewReader(body)))
	resp := w.Result()
	text, _ := io.ReadAll(resp.Body)
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatalf("%s %s: %v in %q", method, path, err, text)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("%s %s: content type %q", method, path, got)
	}
	return resp, out
}

func TestTake(t *testing.T) {
	_, h := alone(t)
	for _, step := range []struct {
		name, body string
		status     int
		ok         bool
		remaining  float64
	}{
		{"more than the burst, first", `{"limit":"api","key":"u","n":101}`, 429, false, 100}, // case 2
		{"n absent is 1", `{"limit":"api","key":"u"}`, 200, true, 99},
		{"several", `{"limit":"api","key":"u","n":59}`, 200, true, 40},
		{"n 0 is a peek", `{"limit":"api","key":"u","n":0}`, 200, true, 40},
		{"too many, and nothing is charged", `{"limit":"api","key":"u","n":41}`, 429, false, 40},
		{"the rest", `{"limit":"api","key":"u","n":40}`, 200, true, 0},
		{"none left", `{"limit":"api","key":"u","n":1}`, 429, false, 0},
		{"another key", `{"limit":"api","key":"v"}`, 200, true, 99},
		{"an empty key is a key", `{"limit":"api","key":""}`, 200, true, 99},       // case 26
		{"another limit, the same key", `{"limit":"web","key":"u"}`, 200, true, 4}, // case 24
	} {
		resp, body := call(t, h, "POST", "/v1/take", step.body)
		if resp.StatusCode != step.status || body["ok"] != step.ok || body["remaining"] != step.remaining {
			t.Errorf("%s: status %d, body %v, want %d, %v, remaining %v", step.name, resp.StatusCode, body, step.status, step.ok, step.remaining)
		}
		if from, to, ok := stampsOf(resp); !ok || from > to {
			t.Errorf("%s: header %s: %q", step.name, DecidedAt, resp.Header.Get(DecidedAt))
		}
	}
}

func stampsOf(resp *http.Response) (from, to string, ok bool) {
	from, to, ok = strings.Cut(resp.Header.Get(DecidedAt), " ")
	return from, to, ok && len(from) == len(to)
}

func TestTakeAnswer(t *testing.T) {
	_, h := alone(t)
	_, body := call(t, h, "POST", "/v1/take", `{"limit":"web","key":"u","n":5}`)
	if body["limit"] != "web" || body["source"] != "shared" || body["retry_after"] != 0.0 {
		t.Errorf("admitted: %v", body)
	}
	if reset := body["reset_after"].(float64); reset <= 3500 || reset > 3600 {
		t.Errorf("admitted: reset_after %v, want about an hour", reset)
	}
	resp, body := call(t, h, "POST", "/v1/take", `{"limit":"web","key":"u"}`)
	if retry := body["retry_after"].(float64); retry <= 620 || retry > 720 {
		t.Errorf("refused: retry_after %v, want about a fifth of an hour", retry)
	}
	if got, want := resp.Header.Get("Retry-After"), strconv.Itoa(int(math.Ceil(body["retry_after"].(float64)))); got != want {
		t.Errorf("refused: Retry-After %q, want %s: whole seconds, rounded up", got, want)
	}
	resp, body = call(t, h, "POST", "/v1/take", `{"limit":"web","key":"u","n":6}`)
	if got := resp.Header.Get("Retry-After"); body["retry_after"] != -1.0 || got != "" {
		t.Errorf("more than the burst: retry_after %v, Retry-After %q, want -1 and none", body["retry_after"], got)
	}
}

func TestSeconds(t *testing.T) {
	for _, tt := range []struct {
		in   time.Duration
		want float64
	}{
		{0, 0}, {1, 0.000001}, {600 * time.Millisecond, 0.6}, {time.Second + 1, 1.000001}, {stint.Never, -1},
	} {
		if got := seconds(tt.in); got != tt.want {
			t.Errorf("seconds(%v) = %v, want %v", tt.in, got, tt.want)
		}
	}
}

func TestTakeAll(t *testing.T) { // case 10
	_, h := alone(t)
	resp, body := call(t, h, "POST", "/v1/take",
		`{"takes":[{"limit":"api","key":"u","n":10},{"limit":"web","key":"u"}]}`)
	results := body["results"].([]any)
	if resp.StatusCode != 200 || body["ok"] != true || body["limit"] != "web" || body["remaining"] != 4.0 || len(results) != 2 {
		t.Errorf("both pass: %d %v", resp.StatusCode, body)
	}
	if first := results[0].(map[string]any); first["limit"] != "api" || first["remaining"] != 90.0 {
		t.Errorf("first result %v", first)
	}

	resp, body = call(t, h, "POST", "/v1/take",
		`{"takes":[{"limit":"api","key":"u","n":10},{"limit":"web","key":"u","n":5}]}`)
	if resp.StatusCode != 429 || body["ok"] != false || body["limit"] != "web" {
		t.Errorf("the second refuses: %d %v", resp.StatusCode, body)
	}
	if _, body = call(t, h, "GET", "/v1/peek?limit=api&key=u", ""); body["remaining"] != 90.0 {
		t.Errorf("the first was charged though the second refused: %v", body)
	}
}

func TestTakeRefusesNonsense(t *testing.T) {
	_, h := alone(t)
	long := `{"limit":"api","key":"` + strings.Repeat("k", maxBody) + `"}`
	many := `{"takes":[` + strings.Repeat(`{"limit":"api","key":"u"},`, maxTakes) + `{"limit":"api","key":"u"}]}`
	for _, tt := range []refusal{
		{"empty", ``, 400, "body"},
		{"not JSON", `limit=api`, 400, "body"},
		{"not an object", `[]`, 400, "body"},
		{"two objects", `{"limit":"api","key":"u"}{}`, 400, "follows"},
		{"garbage after", `{"limit":"api","key":"u"}x`, 400, "body"},
		{"unknown field", `{"limit":"api","key":"u","nn":3}`, 400, `"nn"`},
		{"unknown field in a list", `{"takes":[{"limit":"api","kye":"u"}]}`, 400, `"kye"`},
		{"n not a number", `{"limit":"api","key":"u","n":"3"}`, 400, "n"},
		{"n not whole", `{"limit":"api","key":"u","n":1.5}`, 400, "n"},
		{"n negative", `{"limit":"api","key":"u","n":-1}`, 400, "n is -1"},
		{"no limit", `{"key":"u"}`, 400, "limit is missing"},
		{"no key", `{"limit":"api"}`, 400, "key is missing"},
		{"unknown limit", `{"limit":"apu","key":"u"}`, 404, `"apu"`},
		{"empty list", `{"takes":[]}`, 400, "at least one"},
		{"list that waits", `{"wait":1,"takes":[{"limit":"api","key":"u"}]}`, 400, "wait"},
		{"list with one that waits", `{"takes":[{"limit":"api","key":"u","wait":1}]}`, 400, `"wait"`},
		{"wait negative", `{"limit":"api","key":"u","wait":-1}`, 400, "wait is -1"},
		{"wait too long", `{"limit":"api","key":"u","wait":3601}`, 400, "at most 3600"},
		{"wait not a number", `{"limit":"api","key":"u","wait":"1s"}`, 400, "wait"},
		{"wait for a peek", `{"limit":"api","key":"u","n":0,"wait":1}`, 400, "leave wait out"},
		{"wait under an unknown limit", `{"limit":"apu","key":"u","wait":1}`, 404, `"apu"`},
		{"list and more", `{"limit":"api","takes":[{"limit":"api","key":"u"}]}`, 400, "beside"},
		{"list without a key", `{"takes":[{"limit":"api","key":"u"},{"limit":"api"}]}`, 400, "takes[1].key"},
		{"list with a peek", `{"takes":[{"limit":"api","key":"u","n":0}]}`, 400, "takes[0].n"},
		{"list with an unknown limit", `{"takes":[{"limit":"api","key":"u"},{"limit":"x","key":"u"}]}`, 404, `"x"`},
		{"long list", many, 400, "more than 1000"},
		{"long body", long, 413, "1048576"},
	} {
		tt.check(t, h, "/v1/take")
	}
	if _, body := call(t, h, "GET", "/v1/peek?limit=api&key=u", ""); body["remaining"] != 100.0 {
		t.Errorf("nonsense was charged: %v", body)
	}
}

// refusal is a request that makes no sense, and what is said to it.
type refusal struct {
	name, body string
	status     int
	mentions   string
}

func (r *refusal) check(t *testing.T, h http.Handler, path string) {
	t.Run(strings.TrimPrefix(path, "/v1/")+" "+r.name, func(t *testing.T) {
		resp, body := call(t, h, "POST", path, r.body)
		text, _ := body["error"].(string)
		if resp.StatusCode != r.status || !strings.Contains(text, r.mentions) {
			t.Errorf("status %d, error %q, want %d and a mention of %s", resp.StatusCode, text, r.status, r.mentions)
		}
	})
}

func TestPeek(t *testing.T) {
	_, h := alone(t)
	key := strings.Repeat("k\n{}", 2500) // case 26
	call(t, h, "POST", "/v1/take", `{"limit":"web","key":`+quoted(key)+`,"n":5}`)
	for range 2 { // the first does not change what the second sees
		resp, body := call(t, h, "GET", "/v1/peek?limit=web&key="+url.QueryEscape(key), "")
		if resp.StatusCode != 200 || body["ok"] != false || body["remaining"] != 0.0 || body["retry_after"].(float64) <= 0 {
			t.Errorf("a used up key: %d %v", resp.StatusCode, body)
		}
	}
	for _, tt := range []struct {
		path     string
		status   int
		mentions string
	}{
		{"/v1/peek", 400, "limit is missing"},
		{"/v1/peek?limit=web", 400, "key is missing"},
		{"/v1/peek?limit=nix&key=u", 404, `"nix"`},
		{"/v1/peek?limit=web&kex=u", 400, `"kex"`},
		{"/v1/peek?limit=web&key=u&key=v", 400, `"key"`},
		{"/v1/peek?limit=web&key=%zz", 400, "malformed"},
	} {
		resp, body := call(t, h, "GET", tt.path, "")
		if text, _ := body["error"].(string); resp.StatusCode != tt.status || !strings.Contains(text, tt.mentions) {
			t.Errorf("%s: %d %v, want %d and a mention of %s", tt.path, resp.StatusCode, body, tt.status, tt.mentions)
		}
	}
}

func quoted(s string) string {
	text, _ := json.Marshal(s)
	return string(text)
}

func TestLook(t *testing.T) {
	_, h := alone(t)
	call(t, h, "POST", "/v1/take", `{"limit":"api","key":"u"}`)

	_, body := call(t, h, "GET", "/v1/limits", "")
	text, _ := json.Marshal(body)
	for name, limit := range limitsOfAlone {
		if want := `{"limit":` + quoted(limit) + `,"name":` + quoted(name) + `}`; !strings.Contains(string(text), want) {
			t.Errorf("limits: no %s in %s", want, text)
		}
	}

	_, body = call(t, h, "GET", "/v1/members", "")
	self := body["members"].([]any)[0].(map[string]any)
	if self["name"] != "alone" || self["self"] != true || self["state"] != "alive" || len(self["incarnation"].(string)) != 16 {
		t.Errorf("members: %v", body)
	}
	for _, field := range []string{"addr", "joining", "in_session", "lag_ms", "lag_max_ms", "backlog", "unacked", "bytes_out", "bytes_in", "reconnects"} {
		if _, ok := self[field]; !ok {
			t.Errorf("members: no field %s in %v", field, self)
		}
	}

	_, body = call(t, h, "GET", "/v1/stats", "")
	if body["name"] != "alone" || body["nodes"] != 1.0 || body["keys"] != 1.0 {
		t.Errorf("stats: %v", body)
	}
	for _, field := range []string{"joining", "missing", "unheld", "log_entries", "log_bytes", "max_keys", "evicted", "overflowed", "forgiven", "lost", "dropped", "malformed", "gap_ms", "holds", "bans", "skew_ms", "limits", "peers"} {
		if _, ok := body[field]; !ok {
			t.Errorf("stats: no field %s in %v", field, body)
		}
	}
}

func TestHealth(t *testing.T) {
	d, h := alone(t)
	for _, path := range []string{"/healthz", "/readyz"} {
		if resp, body := call(t, h, "GET", path, ""); resp.StatusCode != 200 {
			t.Errorf("%s: %d %v", path, resp.StatusCode, body)
		}
	}
	d.Drain()
	if resp, body := call(t, h, "GET", "/readyz", ""); resp.StatusCode != 503 || body["error"] != "shutting down" {
		t.Errorf("readyz while draining: %d %v", resp.StatusCode, body)
	}
	if resp, _ := call(t, h, "GET", "/healthz", ""); resp.StatusCode != 200 {
		t.Errorf("healthz while draining: %d", resp.StatusCode)
	}
	if resp, _ := call(t, h, "POST", "/v1/take", `{"limit":"api","key":"u"}`); resp.StatusCode != 200 {
		t.Errorf("take while draining: %d", resp.StatusCode)
	}
}

func TestRoutes(t *testing.T) {
	_, h := alone(t)
	if resp, _ := call(t, h, "GET", "/v1/take", ""); resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
		t.Errorf("GET /v1/take: %d, Allow %q, want 405 and POST", resp.StatusCode, resp.Header.Get("Allow"))
	}
	if resp, _ := call(t, h, "POST", "/v1/stats", ""); resp.StatusCode != 405 {
		t.Errorf("POST /v1/stats: %d, want 405", resp.StatusCode)
	}
	if resp, _ := call(t, h, "GET", "/v1/nix", ""); resp.StatusCode != 404 {
		t.Errorf("GET /v1/nix: %d, want 404", resp.StatusCode)
	}
}

func BenchmarkTake(b *testing.B) {
	node, err := stint.Open(stint.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer node.Close(context.Background())
	if err := node.SetLimit(stint.PerSecond(1_000_000).WithName("api")); err != nil {
		b.Fatal(err)
	}
	h := New(node, slog.New(slog.DiscardHandler)).Handler()
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", "/v1/take", strings.NewReader(`{"limit":"api","key":"u1","n":1}`)))
	}
}

package daemon

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stint-go/stint"
)

// step is a request and what is to be answered: fields of the body, as JSON has them.
type step struct {
	name, method, path, body string
	status                   int
	want                     string
}

func (s *step) check(t *testing.T, h http.Handler) {
	t.Helper()
	resp, body := call(t, h, s.method, s.path, s.body)
	var want map[string]any
	if err := json.Unmarshal([]byte(s.want), &want); err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	for field, value := range want {
		if got, want := form(body[field]), form(value); got != want {
			t.Errorf("%s: %s is %s, want %s", s.name, field, got, want)
		}
	}
	if resp.StatusCode != s.status {
		t.Errorf("%s: status %d, want %d: %v", s.name, resp.StatusCode, s.status, body)
	}
}

func form(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func run(t *testing.T, h http.Handler, steps []step) {
	t.Helper()
	for i := range steps {
		steps[i].check(t, h)
	}
}

func TestReturn(t *testing.T) {
	_, h := alone(t)
	for _, limit := range []string{"api", "day"} {
		on := func(body string) string { return `{"limit":"` + limit + `",` + body + `}` }
		run(t, h, []step{
			{"take", "POST", "/v1/take", on(`"key":"u","n":60`), 200, `{"remaining":40}`},
			{"n absent is 1", "POST", "/v1/return", on(`"key":"u"`), 200, `{"returned":1}`},
			{"several", "POST", "/v1/return", on(`"key":"u","n":9`), 200, `{"returned":9}`},
			{"none", "POST", "/v1/return", on(`"key":"u","n":0`), 200, `{"returned":0}`},
			{"it is back", "GET", "/v1/peek?key=u&limit=" + limit, "", 200, `{"remaining":50}`},
			{"not more than is used", "POST", "/v1/return", on(`"key":"u","n":1000`), 200, `{"returned":50}`},
			{"a key that nobody used", "POST", "/v1/return", on(`"key":"v"`), 200, `{"returned":0}`},
			{"never above full", "GET", "/v1/peek?key=u&limit=" + limit, "", 200, `{"remaining":100}`},

			{"take again", "POST", "/v1/take", on(`"key":"","n":100`), 200, `{"remaining":0}`},
			{"reset", "POST", "/v1/reset", on(`"key":""`), 200, `{"returned":100}`},
			{"reset again", "POST", "/v1/reset", on(`"key":""`), 200, `{"returned":0}`},
			{"all is back", "GET", "/v1/peek?key=&limit=" + limit, "", 200, `{"remaining":100}`},
		})
	}
}

func TestBan(t *testing.T) {
	_, h := alone(t)
	long := strings.Repeat("k", 200)
	run(t, h, []step{
		{"none yet", "GET", "/v1/bans", "", 200, `{"bans":[]}`},
		{"ban", "POST", "/v1/ban", `{"limit":"api","key":"u","for":0.5e3}`, 200, `{"ok":true}`},
		{"the key is refused", "POST", "/v1/take", `{"limit":"api","key":"u"}`, 429, `{"ok":false,"remaining":0}`},
		{"another is not", "POST", "/v1/take", `{"limit":"api","key":"v"}`, 200, `{"ok":true,"remaining":99}`},
		{"nor under another limit", "POST", "/v1/take", `{"limit":"web","key":"u"}`, 200, `{"ok":true}`}, // case 24
		{"nothing is taken with it", "POST", "/v1/take", `{"takes":[{"limit":"api","key":"v"},{"limit":"api","key":"u"}]}`, 429, `{"ok":false}`},
		{"it was not", "GET", "/v1/peek?limit=api&key=v", "", 200, `{"remaining":99}`},
		{"unban", "POST", "/v1/unban", `{"limit":"api","key":"u"}`, 200, `{"ok":true}`},
		{"unban again", "POST", "/v1/unban", `{"limit":"api","key":"u"}`, 200, `{"ok":true}`},
		{"as before", "POST", "/v1/take", `{"limit":"api","key":"u"}`, 200, `{"ok":true,"remaining":99}`},

		{"the longest ban", "POST", "/v1/ban", `{"limit":"log","key":"` + long + `","for":315532800}`, 200, `{"ok":true}`},
		{"a longer", "POST", "/v1/ban", `{"limit":"log","key":"w","for":315532801}`, 400, `{}`},
		{"a short one", "POST", "/v1/ban", `{"limit":"api","key":"","for":60}`, 200, `{"ok":true}`},
		{"and instead one of another length", "POST", "/v1/ban", `{"limit":"api","key":"","for":30}`, 200, `{"ok":true}`},
		{"counted", "GET", "/v1/stats", "", 200, `{"bans":2,"holds":0}`},
	})
	_, body := call(t, h, "GET", "/v1/bans", "")
	bans := body["bans"].([]any)
	if len(bans) != 2 {
		t.Fatalf("bans %v, want 2", bans)
	}
	short, longest := bans[0].(map[string]any), bans[1].(map[string]any)
	if left := short["for"].(float64); short["limit"] != "api" || short["key"] != "" || left <= 0 || left > 30 {
		t.Errorf("ban %v, want one of api and the empty key, for 30 s at most", short)
	}
	if longest["limit"] != "log" || longest["key"] != long[:128] {
		t.Errorf("ban %v, want one of log and the first 128 bytes of the key", longest)
	}
}

func TestHold(t *testing.T) {
	_, h := alone(t)
	hold := func(body string) string {
		t.Helper()
		resp, got := call(t, h, "POST", "/v1/hold", body)
		id, _ := got["hold"].(string)
		if resp.StatusCode != 200 || got["ok"] != true || len(id) != 32 {
			t.Fatalf("hold %s: %d %v", body, resp.StatusCode, got)
		}
		return id
	}
	for _, limit := range []string{"api", "day"} { // case 11
		on := func(body string) string { return `{"limit":"` + limit + `",` + body + `}` }
		peek := "/v1/peek?key=u&limit=" + limit
		a, b := hold(on(`"key":"u","n":60,"ttl":60`)), hold(on(`"key":"u","ttl":0.5e2`))
		run(t, h, []step{
			{"both count", "GET", peek, "", 200, `{"remaining":39}`},
			{"two open", "GET", "/v1/stats", "", 200, `{"holds":2}`},
			{"no room", "POST", "/v1/hold", on(`"key":"u","n":40,"ttl":60`), 429, `{"ok":false,"remaining":39,"hold":null}`},
			{"settle", "POST", "/v1/settle", `{"hold":"` + a + `","n":37}`, 200, `{"ok":true}`},
			{"the rest is back", "GET", peek, "", 200, `{"remaining":62}`},
			{"settle twice", "POST", "/v1/settle", `{"hold":"` + a + `","n":37}`, 404, `{"ok":null}`},
			{"release", "POST", "/v1/release", `{"hold":"` + strings.ToUpper(b) + `"}`, 200, `{"ok":true}`},
			{"release twice", "POST", "/v1/release", `{"hold":"` + b + `"}`, 404, `{}`},
			{"settle what is released", "POST", "/v1/settle", `{"hold":"` + b + `","n":1}`, 404, `{}`},
			{"unknown", "POST", "/v1/release", `{"hold":"0123456789abcdef0123456789abcdef"}`, 404, `{}`},
			{"what was spent", "GET", peek, "", 200, `{"remaining":63}`},
			{"none open", "GET", "/v1/stats", "", 200, `{"holds":0}`},
		})
		c := hold(on(`"key":"u","n":13,"ttl":60`))
		run(t, h, []step{
			{"settle with more than was held", "POST", "/v1/settle", `{"hold":"` + c + `","n":163}`, 200, `{"ok":true}`},
			{"it is charged", "GET", peek, "", 200, `{"ok":false,"remaining":0}`},
			{"none of what is no limit", "POST", "/v1/hold", `{"limit":"shut","key":"u","ttl":1}`, 429, `{"ok":false,"retry_after":-1}`},
		})
	}
	free := hold(`{"limit":"free","key":"u","n":1000000,"ttl":60}`)
	run(t, h, []step{{"of an unlimited limit", "POST", "/v1/settle", `{"hold":"` + free + `","n":1}`, 200, `{"ok":true}`}})
}

func TestTooManyBans(t *testing.T) {
	node, err := stint.Open(stint.Config{MaxKeys: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close(t.Context()) })
	if err := node.SetLimit(stint.PerHour(5).WithName("api")); err != nil {
		t.Fatal(err)
	}
	h := New(node, slog.New(slog.DiscardHandler)).Handler()
	run(t, h, []step{
		{"one", "POST", "/v1/ban", `{"limit":"api","key":"1","for":60}`, 200, `{"ok":true}`},
		{"two, a quarter of the keys", "POST", "/v1/ban", `{"limit":"api","key":"2","for":60}`, 200, `{"ok":true}`},
		{"three", "POST", "/v1/ban", `{"limit":"api","key":"3","for":60}`, 503, `{"ok":null}`},
	})
}

func TestVerbsRefuseNonsense(t *testing.T) {
	_, h := alone(t)
	for path, rest := range map[string]string{
		"/v1/take": "", "/v1/return": "", "/v1/reset": "", "/v1/ban": `,"for":60`, "/v1/unban": "", "/v1/hold": `,"ttl":60`,
	} {
		for _, tt := range []refusal{
			{"empty", ``, 400, "body"},
			{"not an object", `"api"`, 400, "body"},
			{"garbage after", `{"limit":"api","key":"u"` + rest + `}x`, 400, "body"},
			{"unknown field", `{"limit":"api","key":"u","kee":1` + rest + `}`, 400, `"kee"`},
			{"no limit", `{"key":"u"` + rest + `}`, 400, "limit is missing"},
			{"no key", `{"limit":"api"` + rest + `}`, 400, "key is missing"},
			{"key not a string", `{"limit":"api","key":7` + rest + `}`, 400, "key"},
			{"unknown limit", `{"limit":"apu","key":"u"` + rest + `}`, 404, `"apu"`},
			{"long body", `{"limit":"api","key":"` + strings.Repeat("k", maxBody) + `"` + rest + `}`, 413, "1048576"},
		} {
			tt.check(t, h, path)
		}
	}
	const id = `"hold":"0123456789abcdef0123456789abcdef"`
	for _, tt := range []struct {
		path string
		refusal
	}{
		{"/v1/return", refusal{"n negative", `{"limit":"api","key":"u","n":-1}`, 400, "n is -1"}},
		{"/v1/return", refusal{"n not whole", `{"limit":"api","key":"u","n":0.5}`, 400, "n"}},
		{"/v1/reset", refusal{"with n", `{"limit":"api","key":"u","n":1}`, 400, `"n"`}},
		{"/v1/ban", refusal{"no time", `{"limit":"api","key":"u"}`, 400, "for is missing"}},
		{"/v1/ban", refusal{"no time to speak of", `{"limit":"api","key":"u","for":0}`, 400, "for is 0"}},
		{"/v1/ban", refusal{"time negative", `{"limit":"api","key":"u","for":-1}`, 400, "for is -1"}},
		{"/v1/ban", refusal{"time out of range", `{"limit":"api","key":"u","for":1e300}`, 400, "for is 1e+300"}},
		{"/v1/ban", refusal{"time not a number", `{"limit":"api","key":"u","for":"1h"}`, 400, "for"}},
		{"/v1/ban", refusal{"no keys to ban", `{"limit":"free","key":"u","for":1}`, 400, "keeps no keys"}},
		{"/v1/unban", refusal{"with a time", `{"limit":"api","key":"u","for":1}`, 400, `"for"`}},
		{"/v1/unban", refusal{"no keys to unban", `{"limit":"shut","key":"u"}`, 400, "keeps no keys"}},
		{"/v1/hold", refusal{"no ttl", `{"limit":"api","key":"u"}`, 400, "ttl is missing"}},
		{"/v1/hold", refusal{"ttl 0", `{"limit":"api","key":"u","ttl":0}`, 400, "ttl is 0"}},
		{"/v1/hold", refusal{"n negative", `{"limit":"api","key":"u","n":-1,"ttl":1}`, 400, "n is -1"}},
		{"/v1/hold", refusal{"n 0", `{"limit":"api","key":"u","n":0,"ttl":1}`, 400, "n is 0"}},
		{"/v1/settle", refusal{"empty", ``, 400, "body"}},
		{"/v1/settle", refusal{"no hold", `{"n":1}`, 400, "hold is missing"}},
		{"/v1/settle", refusal{"no n", `{` + id + `}`, 400, "n is missing"}},
		{"/v1/settle", refusal{"n negative", `{` + id + `,"n":-1}`, 400, "n is -1"}},
		{"/v1/settle", refusal{"no such hold", `{` + id + `,"n":1}`, 404, "no such hold"}},
		{"/v1/settle", refusal{"hold too short", `{"hold":"0123","n":1}`, 400, `"0123"`}},
		{"/v1/settle", refusal{"with a limit", `{"limit":"api",` + id + `,"n":1}`, 400, `"limit"`}},
		{"/v1/release", refusal{"no hold", `{}`, 400, "hold is missing"}},
		{"/v1/release", refusal{"hold not hexadecimal", `{"hold":"` + strings.Repeat("x", 32) + `"}`, 400, "hexadecimal"}},
		{"/v1/release", refusal{"with n", `{` + id + `,"n":1}`, 400, `"n"`}},
		{"/v1/release", refusal{"long body", `{"hold":"` + strings.Repeat("0", maxBody) + `"}`, 413, "1048576"}},
	} {
		tt.check(t, h, tt.path)
	}
	run(t, h, []step{
		{"nothing was charged", "GET", "/v1/peek?limit=api&key=u", "", 200, `{"remaining":100}`},
		{"nothing is held, nobody banned", "GET", "/v1/stats", "", 200, `{"holds":0,"bans":0}`},
		{"bans are for looking", "POST", "/v1/bans", `{}`, 405, `{}`},
		{"holds are not", "GET", "/v1/hold", "", 405, `{}`},
	})
}

package daemon

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// Whatever is posted, or asked for: an answer in JSON that is no fault of ours, and a count
// that makes sense.
func FuzzRequest(f *testing.F) {
	paths := []string{"/v1/take", "/v1/return", "/v1/reset", "/v1/hold", "/v1/settle", "/v1/release", "/v1/ban", "/v1/unban"}
	f.Add(uint8(0), `{"limit":"api","key":"u","n":3}`)
	f.Add(uint8(0), `{"takes":[{"limit":"api","key":"u"},{"limit":"web","key":"","n":9223372036854775807}]}`)
	f.Add(uint8(0), `{"limit":"send","key":"u","n":3,"wait":1e300}`)
	f.Add(uint8(1), `{"limit":"log","key":"u","n":-1}`)
	f.Add(uint8(2), `{"limit":"day","key":"\u0000"}`)
	f.Add(uint8(3), `{"limit":"web","key":"u","n":2,"ttl":0.0000000001}`)
	f.Add(uint8(4), `{"hold":"0000000000000001.0000000000000001.api","n":1}`)
	f.Add(uint8(5), `{"hold":""}`)
	f.Add(uint8(6), `{"limit":"api","key":"u","for":1e18}`)
	f.Add(uint8(7), `[]`)
	f.Add(uint8(8), `limit=api&key=%00`)
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		_, h := alone(t)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond) // of a client that does not wait
		defer cancel()
		var req *http.Request
		if i := int(which) % (len(paths) + 1); i < len(paths) {
			req = httptest.NewRequestWithContext(ctx, "POST", paths[i], strings.NewReader(text))
		} else {
			req = httptest.NewRequestWithContext(ctx, "GET", "/v1/peek", nil)
			req.URL.RawQuery = text
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		var body map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil || w.Code == http.StatusInternalServerError {
			t.Errorf("%s %q: %d %s %v", req.URL.Path, text, w.Code, w.Body, err)
		}
		w = httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", "/v1/peek?"+url.Values{"limit": {"web"}, "key": {"u"}}.Encode(), nil))
		var left struct{ Remaining int64 }
		if err := json.Unmarshal(w.Body.Bytes(), &left); err != nil || left.Remaining < 0 || left.Remaining > 5 {
			t.Errorf("after %q: %s, %v", text, w.Body, err)
		}
	})
}

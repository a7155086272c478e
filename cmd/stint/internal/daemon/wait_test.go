package daemon

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLeakyBucket(t *testing.T) {
	_, h := alone(t)
	const ask = `{"limit":"send","key":"u"}`
	run(t, h, []step{
		{"the first may go", "POST", "/v1/take", ask, 200, `{"ok":true,"remaining":2,"delay":null}`},
	})
	_, body := call(t, h, "POST", "/v1/take", ask)
	if delay, _ := body["delay"].(float64); delay <= 9 || delay > 10 {
		t.Errorf("the second: %v, want a delay of just under 10", body)
	}
	_, body = call(t, h, "POST", "/v1/take", `{"takes":[{"limit":"send","key":"u"},{"limit":"web","key":"u"}]}`)
	if delay, _ := body["delay"].(float64); delay <= 19 || delay > 20 {
		t.Errorf("a list with the third: %v, want a delay of just under 20: that of the slowest", body)
	}
	run(t, h, []step{{"the queue is full", "POST", "/v1/take", ask, 429, `{"ok":false,"delay":null}`}})
}

// pipe listens on pipes, so that real connections have the time of a bubble.
type pipe chan net.Conn

func (p pipe) Accept() (net.Conn, error) {
	if c, ok := <-p; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}
func (p pipe) Close() error   { close(p); return nil }
func (p pipe) Addr() net.Addr { return &net.TCPAddr{} }

// served is a daemon behind its server, in a bubble, and a client for it.
func served(t *testing.T) (*Daemon, *http.Server, *http.Client) {
	d, _ := alone(t)
	server, listener := d.Server(), make(pipe)
	done := make(chan error)
	go func() { done <- server.Serve(listener) }()
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) {
			here, there := net.Pipe()
			listener <- there
			return here, nil
		},
	}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		server.Close()
		<-done
	})
	return d, server, client
}

// post makes one take and says what was answered, and when.
func post(t *testing.T, client *http.Client, body string) (int, map[string]any, time.Duration) {
	t.Helper()
	start := time.Now()
	resp, err := client.Post("http://stint/v1/take", "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, out, time.Since(start)
}

// A wait outlasts the time-outs of the server, and those who wait are served in turn.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, client := served(t)
		for _, tt := range []struct {
			name, body string
			status     int
			after      time.Duration
			remaining  float64
		}{
			{"at once", `{"limit":"web","key":"u","n":5,"wait":1}`, 200, 0, 0},
			{"no wait", `{"limit":"web","key":"u","wait":0}`, 429, 0, 0},
			{"too short", `{"limit":"web","key":"u","wait":719}`, 429, 0, 0}, // case 18
			{"long enough", `{"limit":"web","key":"u","wait":720}`, 200, 720 * time.Second, 0},
			{"more than there ever is", `{"limit":"web","key":"u","n":6,"wait":3600}`, 429, 0, 0},
			{"blocked", `{"limit":"shut","key":"u","wait":3600}`, 429, 0, 0},
			{"unlimited", `{"limit":"free","key":"u","wait":3600}`, 200, 0, -1},
			{"the first of a leaky bucket", `{"limit":"send","key":"u","wait":1}`, 200, 0, 2},
			{"its delay is waited out", `{"limit":"send","key":"u","n":2,"wait":30}`, 200, 10 * time.Second, 1},
			{"and is part of the wait", `{"limit":"send","key":"u","wait":0.5}`, 429, 0, 1},
		} {
			status, body, after := post(t, client, tt.body)
			if status != tt.status || after != tt.after || tt.remaining >= 0 && body["remaining"] != tt.remaining {
				t.Errorf("%s: %d after %v, %v, want %d after %v, remaining %v", tt.name, status, after, body, tt.status, tt.after, tt.remaining)
			}
			if retry := body["retry_after"].(float64); (retry == 0) != (status == 200) || body["delay"] != nil || body["ok"] != (status == 200) {
				t.Errorf("%s: %v", tt.name, body)
			}
		}
	})
}

// A client that goes away takes nothing, and those behind it move up.
func TestWaitOfOneWhoLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, client := served(t)
		post(t, client, `{"limit":"web","key":"u","n":5}`)
		ctx, leave := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			req, _ := http.NewRequestWithContext(ctx, "POST", "http://stint/v1/take", strings.NewReader(`{"limit":"web","key":"u","n":5,"wait":3600}`))
			_, err := client.Do(req)
			gone <- err
		}()
		synctest.Wait()
		status, body, after := post(t, client, `{"limit":"web","key":"u","wait":1000}`)
		if status != 429 || after != 0 || body["remaining"] != 0.0 {
			t.Errorf("behind five others: %d after %v, %v, want 429 at once", status, after, body)
		}
		leave()
		if err := <-gone; err == nil {
			t.Error("the one who left was answered")
		}
		synctest.Wait()
		if status, body, after = post(t, client, `{"limit":"web","key":"u","wait":1000}`); status != 200 || after != 12*time.Minute {
			t.Errorf("after it has left: %d after %v, %v, want 200 after 12m", status, after, body)
		}
	})
}

// A daemon that goes away lets nobody wait.
func TestWaitEndsWithDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, server, client := served(t)
		post(t, client, `{"limit":"web","key":"u","n":5}`)
		type result struct {
			status int
			body   map[string]any
			after  time.Duration
		}
		answered := make(chan result)
		go func() {
			status, body, after := post(t, client, `{"limit":"web","key":"u","wait":3600}`)
			answered <- result{status, body, after}
		}()
		synctest.Wait()
		d.Drain()
		if got := <-answered; got.status != 503 || got.after != 0 {
			t.Errorf("a take that waited: %+v, want 503 at once", got)
		}
		if status, body, _ := post(t, client, `{"limit":"api","key":"u"}`); status != 200 {
			t.Errorf("one that does not wait: %d %v", status, body)
		}
		if err := server.Shutdown(t.Context()); err != nil {
			t.Errorf("shutdown: %v", err)
		}
	})
}

package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// watchEvery is how often servers are asked how old their news is.
const watchEvery = 500 * time.Millisecond

// watcher asks the servers what they know of each other, and keeps the worst.
type watcher struct {
	client *http.Client
	addrs  []string

	mu    sync.Mutex
	lag   time.Duration
	gap   time.Duration
	nodes int  // fewest seen; 0: no answer yet
	apart bool // some member was not alive, or some server did not answer
}

// watch samples until the context ends, and once more then.
func (w *watcher) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		w.sample()
		select {
		case <-tick.C:
		case <-ctx.Done():
			w.sample()
			return
		}
	}
}

func (w *watcher) sample() {
	var all sync.WaitGroup
	for _, addr := range w.addrs {
		all.Go(func() { w.ask(addr) })
	}
	all.Wait()
}

func (w *watcher) ask(addr string) {
	var members struct {
		Members []struct {
			Self  bool    `json:"self"`
			State string  `json:"state"`
			Lag   float64 `json:"lag_max_ms"`
		} `json:"members"`
	}
	var stats struct {
		Nodes int     `json:"nodes"`
		Gap   float64 `json:"gap_ms"`
	}
	err := getJSON(w.client, addr, "/v1/members", &members)
	if err == nil {
		err = getJSON(w.client, addr, "/v1/stats", &stats)
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil {
		w.apart = true
		return
	}
	for _, m := range members.Members {
		if m.Self {
			continue
		}
		w.apart = w.apart || m.State != "alive"
		w.lag = max(w.lag, time.Duration(m.Lag*float64(time.Millisecond)))
	}
	w.gap = max(w.gap, time.Duration(stats.Gap*float64(time.Millisecond)))
	if w.nodes == 0 || stats.Nodes < w.nodes {
		w.nodes = stats.Nodes
	}
}

// limits returns the limits that a server has, name to text.
func limits(c *http.Client, addr string) (map[string]string, error) {
	var body struct {
		Limits []struct{ Name, Limit string } `json:"limits"`
	}
	if err := getJSON(c, addr, "/v1/limits", &body); err != nil {
		return nil, err
	}
	all := make(map[string]string)
	for _, l := range body.Limits {
		all[l.Name] = l.Limit
	}
	return all, nil
}

// used says whether anything of a key is in use at a server.
func used(c *http.Client, addr, limit, key string) (bool, error) {
	var peek struct {
		ResetAfter float64 `json:"reset_after"`
	}
	err := getJSON(c, addr, "/v1/peek?"+url.Values{"limit": {limit}, "key": {key}}.Encode(), &peek)
	return peek.ResetAfter > 0, err
}

func getJSON(c *http.Client, addr, path string, into any) error {
	resp, err := c.Get("http://" + addr + path)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return fmt.Errorf("http://%s%s: %s: %s", addr, path, resp.Status, text)
	}
	return json.NewDecoder(io.LimitReader(resp.Body, 16<<20)).Decode(into)
}

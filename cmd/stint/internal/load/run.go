package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/stint-go/stint"
)

// Config says what to drive, and how.
type Config struct {
	Plan               // its Servers is the number of Addrs
	Addrs    []string  // host:port of each daemon
	Limit    string    // its name at the daemons
	KeyName  string    // the key, or with Keys above 1 the beginning of each
	Progress io.Writer // a line a second; nil: none
}

// Report is a run and its result.
type Report struct {
	Limit   string  `json:"limit"` // as the daemons have it: 100/s
	Rule    Rule    `json:"-"`
	Pattern string  `json:"pattern"`
	Rate    float64 `json:"rate"`
	Seconds float64 `json:"seconds"`
	Keys    int     `json:"keys"`
	Nodes   int     `json:"nodes"`       // fewest members any daemon knew of; 0: not known
	Age     float64 `json:"news_age_ms"` // worst age of news, with the gap: what the bound reckons with
	Gap     float64 `json:"gap_ms"`
	InTouch bool    `json:"in_touch"` // no daemon or member was away at any time

	Result
	Notes []string `json:"notes,omitempty"` // what a reader of the figures must know
}

// Run drives the daemons by the plan and judges what they admitted. When the context
// ends early it judges what there is. An error means that there is nothing to judge.
func Run(ctx context.Context, cfg Config) (*Report, error) {
	cfg.Servers, cfg.Keys = len(cfg.Addrs), max(cfg.Keys, 1)
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	asker := &http.Client{Timeout: 2 * time.Second}
	defer asker.CloseIdleConnections()
	limit, err := agreed(asker, cfg)
	if err != nil {
		return nil, err
	}
	rule, err := RuleOf(limit)
	if err != nil {
		return nil, err
	}
	r := &Report{
		Limit: limit.String(), Rule: rule, Pattern: cfg.Pattern.String(), Rate: cfg.Rate, Keys: cfg.Keys,
	}
	if inUse, err := used(asker, cfg.Addrs[0], cfg.Limit, cfg.key(0)); err == nil && inUse {
		r.note("The key was in use before the run; the central counter starts full all the same.")
	}

	w := &watcher{client: asker, addrs: cfg.Addrs}
	takes, lasted := cfg.drive(ctx, w)
	r.Seconds = lasted.Seconds()
	news := w.news(r, limit.Mode)
	if !rule.bucket() {
		news = nil
		r.note(fmt.Sprintf("No excess and no bound: those are of buckets, and this limit is a %s.", rule.Algorithm))
	}
	r.Result = Analyse(takes, rule, news, cfg.Addrs)
	if r.Admitted+r.Refused == 0 {
		return nil, errors.New("no take was answered: are the servers up, and do they take this limit?")
	}
	return r, nil
}

func (r *Report) note(text string) { r.Notes = append(r.Notes, text) }

// agreed is the limit of that name, which all daemons must have alike.
func agreed(c *http.Client, cfg Config) (limit stint.Limit, err error) {
	for i, addr := range cfg.Addrs {
		all, err := limits(c, addr)
		if err != nil {
			return limit, fmt.Errorf("asking server %s for its limits: %w", addr, err)
		}
		text, ok := all[cfg.Limit]
		if !ok {
			return limit, fmt.Errorf("server %s has no limit %q: start it with --limit %s=100/s", addr, cfg.Limit, cfg.Limit)
		}
		l, err := stint.ParseLimit(text)
		if err != nil {
			return limit, fmt.Errorf("server %s: %w", addr, err)
		}
		if i > 0 && l != limit {
			return limit, fmt.Errorf("limit %q is %s at %s and %s at %s: give all servers the same", cfg.Limit, limit, cfg.Addrs[0], l, addr)
		}
		limit = l
	}
	return limit, nil
}

// news is what the bound reckons with, and nil where none is promised.
func (w *watcher) news(r *Report, mode stint.Mode) *News {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := &News{Age: w.lag + w.gap, Nodes: w.nodes}
	r.Nodes, r.InTouch = w.nodes, !w.apart
	r.Age, r.Gap = n.Age.Seconds()*1e3, w.gap.Seconds()*1e3
	switch {
	case mode != stint.Shared:
		r.note(fmt.Sprintf("No bound: a limit in mode %s is not shared.", mode))
		return nil
	case w.nodes == 0:
		r.note("No bound: no server told how old its news is.")
		return nil
	case w.apart:
		r.note("No bound: a server or a member was away for a time, and what it spent is not all known to the others.")
		return nil
	case w.nodes < len(w.addrs):
		r.note(fmt.Sprintf("No bound: %d servers, but one of them knows of only %d members: they are not one cluster.", len(w.addrs), w.nodes))
		return nil
	}
	return n
}

// drive runs the plan and returns the record of what fell due, and how long that took.
func (cfg *Config) drive(ctx context.Context, w *watcher) ([]Take, time.Duration) {
	takes := make([]Take, cfg.Len())
	tally := &tally{}
	clients := make([]*client, len(cfg.Addrs))
	var work, side sync.WaitGroup
	for j, addr := range cfg.Addrs {
		c := &client{addr: addr, takes: takes, tally: tally, lots: make(chan lot, mostWaiting)}
		clients[j] = c
		work.Go(func() { c.run(ctx) })
	}
	watching, stop := context.WithCancel(context.Background())
	side.Go(func() { w.watch(watching) })
	side.Go(func() { progress(watching, cfg.Progress, tally) })

	start := time.Now()
	began := start.UnixNano()
	n := cfg.Drive(ctx, func(i int) {
		j, k := cfg.Server(i), cfg.Plan.Key(i)
		takes[i] = Take{Due: began + int64(cfg.At(i)), Server: int32(j), Key: int32(k)}
		clients[j].add(int32(i), cfg.body(k))
	}, func() {
		for _, c := range clients {
			c.flush()
		}
	})
	lasted := time.Since(start)
	for _, c := range clients {
		close(c.lots)
	}
	work.Wait()
	stop()
	side.Wait()
	return takes[:n], lasted
}

// key is the name of key k.
func (cfg *Config) key(k int) string {
	if cfg.Keys < 2 {
		return cfg.KeyName
	}
	return cfg.KeyName + strconv.Itoa(k)
}

// body is the request for a take of key k.
func (cfg *Config) body(k int) []byte {
	body, _ := json.Marshal(struct { // strings always encode
		Limit string `json:"limit"`
		Key   string `json:"key"`
	}{cfg.Limit, cfg.key(k)})
	return body
}

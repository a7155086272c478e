package daemon

import (
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/stint-go/stint"
)

// peek says what a take of one would get, without taking.
func (d *Daemon) peek(w http.ResponseWriter, r *http.Request) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		fail(w, http.StatusBadRequest, "the query is malformed: %v", err)
		return
	}
	for name, values := range query {
		if name != "limit" && name != "key" || len(values) != 1 {
			fail(w, http.StatusBadRequest, "parameter %q: give limit and key, once each", name)
			return
		}
	}
	req := named{Limit: query.Get("limit"), Key: only(query["key"])}
	limit, ok := d.find(w, &req)
	if !ok {
		return
	}
	dec := d.node.Peek(*req.Key, limit)
	reply(w, http.StatusOK, decision(&dec))
}

func only(values []string) *string {
	if len(values) == 0 {
		return nil
	}
	return &values[0]
}

type limitBody struct {
	Name  string `json:"name"`
	Limit string `json:"limit"`
}

func (d *Daemon) limits(w http.ResponseWriter, _ *http.Request) {
	all := []limitBody{}
	for _, l := range d.node.Limits() {
		all = append(all, limitBody{l.Name, l.String()})
	}
	reply(w, http.StatusOK, map[string]any{"limits": all})
}

type memberBody struct {
	Name        string  `json:"name"`
	Addr        string  `json:"addr"`
	Self        bool    `json:"self"`
	State       string  `json:"state"`
	Joining     bool    `json:"joining"`
	Incarnation string  `json:"incarnation"`
	InSession   bool    `json:"in_session"`
	Lag         float64 `json:"lag_ms"`
	LagMax      float64 `json:"lag_max_ms"`
	Backlog     int     `json:"backlog"`
	Unacked     int     `json:"unacked"`
	BytesOut    int64   `json:"bytes_out"`
	BytesIn     int64   `json:"bytes_in"`
	Reconnects  int64   `json:"reconnects"`
}

func memberBodies(all []stint.Member) []memberBody {
	out := []memberBody{}
	for _, m := range all {
		out = append(out, memberBody{
			Name: m.Name, Addr: m.Addr, Self: m.Self, State: m.State, Joining: m.Joining,
			Incarnation: fmt.Sprintf("%016x", m.Incarnation),
			InSession:   m.InSession, Lag: millis(m.Lag), LagMax: millis(m.LagMax),
			Backlog: m.Backlog, Unacked: m.Unacked,
			BytesOut: m.BytesOut, BytesIn: m.BytesIn, Reconnects: m.Reconnects,
		})
	}
	return out
}

func millis(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// overshootBody is what a limit may be overspent by now, and was of late.
type overshootBody struct {
	Name   string  `json:"name"`
	Bound  float64 `json:"bound"`
	Excess int64   `json:"excess"`
}

func (d *Daemon) members(w http.ResponseWriter, _ *http.Request) {
	limits := []overshootBody{}
	for _, l := range d.node.Stats().Limits {
		limits = append(limits, overshootBody{l.Name, l.Bound, l.Excess})
	}
	reply(w, http.StatusOK, map[string]any{"members": memberBodies(d.node.Members()), "limits": limits})
}

type limitStatsBody struct {
	limitBody
	Allowed int64   `json:"allowed"`
	Denied  int64   `json:"denied"`
	Bound   float64 `json:"bound"`
	Excess  int64   `json:"excess"`
}

type statsBody struct {
	Name       string           `json:"name"`
	Nodes      int              `json:"nodes"`
	Joining    bool             `json:"joining"`
	Missing    int              `json:"missing"`
	Keys       int              `json:"keys"`
	MaxKeys    int              `json:"max_keys"`
	Evicted    int64            `json:"evicted"`
	Overflowed int64            `json:"overflowed"`
	Forgiven   int64            `json:"forgiven"`
	Lost       int64            `json:"lost"`
	Dropped    int64            `json:"dropped"`
	Unheld     int64            `json:"unheld"`
	Malformed  int64            `json:"malformed"`
	LogEntries int              `json:"log_entries"`
	LogBytes   int              `json:"log_bytes"`
	Gap        float64          `json:"gap_ms"`
	Holds      int              `json:"holds"`
	Bans       int              `json:"bans"`
	Skew       float64          `json:"skew_ms"`
	Limits     []limitStatsBody `json:"limits"`
	Peers      []memberBody     `json:"peers"`
}

func (d *Daemon) stats(w http.ResponseWriter, _ *http.Request) {
	s := d.node.Stats()
	body := statsBody{
		Name: s.Name, Nodes: s.Nodes, Joining: s.Joining, Missing: s.Missing, Keys: s.Keys, MaxKeys: s.MaxKeys, Evicted: s.Evicted,
		Overflowed: s.Overflowed, Forgiven: s.Forgiven, Lost: s.Lost,
		Dropped: s.Dropped, Unheld: s.Unheld, Malformed: s.Malformed,
		LogEntries: s.LogEntries, LogBytes: s.LogBytes, Gap: millis(s.Gap),
		Holds: s.Holds, Bans: s.Bans, Skew: millis(s.Skew),
		Limits: []limitStatsBody{}, Peers: memberBodies(s.Peers),
	}
	for _, l := range s.Limits {
		body.Limits = append(body.Limits, limitStatsBody{limitBody{l.Name, l.Limit}, l.Allowed, l.Denied, l.Bound, l.Excess})
	}
	reply(w, http.StatusOK, body)
}

package daemon

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/stint-go/stint"
)

// maxTakes bounds the takes of one request.
const maxTakes = 1000

func (d *Daemon) takeAll(w http.ResponseWriter, r *http.Request, req *request) {
	takes, status, err := d.takes(req)
	if err != nil {
		fail(w, status, "%v", err)
		return
	}
	into := make([]stint.Decision, len(takes))
	from := time.Now()
	_, err = d.node.TakeAll(r.Context(), takes, into)
	stamp(w, from)
	if err != nil {
		d.failed(w, "take", err)
		return
	}
	tight := tightest(into)
	results := make([]decisionBody, len(into))
	for i := range into {
		results[i] = decision(&into[i])
	}
	all := decision(tight)
	for _, one := range results { // what was taken together goes together
		all.Delay = max(all.Delay, one.Delay)
	}
	answer(w, tight, struct {
		decisionBody
		Results []decisionBody `json:"results"`
	}{all, results})
}

// takes checks the takes of a request and names their limits.
func (d *Daemon) takes(req *request) ([]stint.Take, int, error) {
	bad := http.StatusBadRequest
	switch {
	case req.given():
		return nil, bad, errors.New("limit, key and n stand beside takes: put them into it")
	case req.Wait != nil:
		return nil, bad, errors.New("wait stands beside takes: a list is had at once or not at all, so leave it out")
	case len(req.Takes) == 0:
		return nil, bad, errors.New("takes is empty: give at least one")
	case len(req.Takes) > maxTakes:
		return nil, bad, fmt.Errorf("takes has %d, more than %d: send several requests", len(req.Takes), maxTakes)
	}
	takes := make([]stint.Take, len(req.Takes))
	for i := range req.Takes {
		a, name := &req.Takes[i], fmt.Sprintf("takes[%d].", i)
		if err := a.check(name); err != nil {
			return nil, bad, err
		}
		if a.events() == 0 {
			return nil, bad, fmt.Errorf("%sn is 0: a list takes together and cannot peek; leave this one out", name)
		}
		limit, ok := d.node.Limit(a.Limit)
		if !ok {
			return nil, http.StatusNotFound, unknown(a.Limit)
		}
		takes[i] = stint.Take{Limit: limit, Key: *a.Key, N: a.events()}
	}
	return takes, 0, nil
}

// tightest is the decision that speaks for all: the refusal with the longest wait, or if
// there is none the admission with the least left.
func tightest(all []stint.Decision) *stint.Decision {
	best := &all[0]
	for i := range all {
		d := &all[i]
		switch {
		case d.OK != best.OK:
			if !d.OK {
				best = d
			}
		case !d.OK && d.RetryAfter > best.RetryAfter, d.OK && d.Remaining < best.Remaining:
			best = d
		}
	}
	return best
}

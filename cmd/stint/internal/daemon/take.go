package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/stint-go/stint"
)

// maxTakes bounds the takes of one request.
const maxTakes = 1000

// DecidedAt is the header of an answer with two wall-clock times of this machine, in Unix
// nanoseconds: just before and just after the decision. stint load orders takes by it.
const DecidedAt = "Stint-Decided-At"

// request is the body of POST /v1/take.
type request struct {
	ask
	Takes []ask `json:"takes"`
}

// ask is one take. Key and N are pointers to tell absent from empty: an empty key is a
// key, 0 events are a peek, and no N is 1.
type ask struct {
	Limit string  `json:"limit"`
	Key   *string `json:"key"`
	N     *int64  `json:"n"`
}

func (a *ask) given() bool { return a.Limit != "" || a.Key != nil || a.N != nil }

func (a *ask) events() int64 {
	if a.N == nil {
		return 1
	}
	return *a.N
}

// check says what is wrong with the take called name in the request.
func (a *ask) check(name string) error {
	switch {
	case a.Limit == "":
		return fmt.Errorf("%slimit is missing: name one of GET /v1/limits", name)
	case a.Key == nil:
		return fmt.Errorf("%skey is missing: give one, if only \"\"", name)
	case a.events() < 0:
		return fmt.Errorf("%sn is %d: ask for 0 events or more", name, a.events())
	}
	return nil
}

func (d *Daemon) take(w http.ResponseWriter, r *http.Request) {
	var req request
	if status, err := decode(w, r, &req); err != nil {
		fail(w, status, "%v", err)
		return
	}
	if req.Takes != nil {
		d.takeAll(w, r, &req)
		return
	}
	if err := req.check(""); err != nil {
		fail(w, http.StatusBadRequest, "%v", err)
		return
	}
	limit, ok := d.node.Limit(req.Limit)
	if !ok {
		failUnknown(w, req.Limit)
		return
	}
	from := time.Now()
	dec, err := d.node.Take(r.Context(), *req.Key, limit, req.events())
	stamp(w, from)
	if err != nil {
		d.failTake(w, err)
		return
	}
	answer(w, &dec, decision(&dec))
}

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
		d.failTake(w, err)
		return
	}
	tight := tightest(into)
	results := make([]decisionBody, len(into))
	for i := range into {
		results[i] = decision(&into[i])
	}
	answer(w, tight, struct {
		decisionBody
		Results []decisionBody `json:"results"`
	}{decision(tight), results})
}

// takes checks the takes of a request and names their limits.
func (d *Daemon) takes(req *request) ([]stint.Take, int, error) {
	bad := http.StatusBadRequest
	switch {
	case req.given():
		return nil, bad, errors.New("limit, key and n stand beside takes: put them into it")
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

// decode reads a body strictly: a field that is not known is more likely misspelt than
// meant for somebody else.
func decode(w http.ResponseWriter, r *http.Request, into any) (status int, err error) {
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	in.DisallowUnknownFields()
	err = in.Decode(into)
	if err == nil {
		if _, err = in.Token(); err == io.EOF {
			return 0, nil
		} else if err == nil {
			err = errors.New("something follows the object")
		}
	}
	if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
		return http.StatusRequestEntityTooLarge, fmt.Errorf("the body is over %d bytes: send less at once", maxBody)
	}
	return http.StatusBadRequest, fmt.Errorf("the body is not what is expected here: %w", err)
}

func unknown(limit string) error {
	return fmt.Errorf("limit %q: %w", limit, stint.ErrUnknownLimit)
}

func failUnknown(w http.ResponseWriter, limit string) {
	fail(w, http.StatusNotFound, "%v", unknown(limit))
}

// stamp notes when the decision was made: after from, and before now.
func stamp(w http.ResponseWriter, from time.Time) {
	b := strconv.AppendInt(make([]byte, 0, 40), from.UnixNano(), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, from.Add(time.Since(from)).UnixNano(), 10)
	w.Header().Set(DecidedAt, string(b))
}

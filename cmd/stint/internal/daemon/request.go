package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/stint-go/stint"
)

// named is the key under a limit that a request is about. Key is a pointer to tell absent
// from empty: an empty key is a key.
type named struct {
	Limit string  `json:"limit"`
	Key   *string `json:"key"`
}

func (n *named) limit() string { return n.Limit }

// check says what is wrong. place is where in the request this stands, if not on top.
func (n *named) check(place string) error {
	switch {
	case n.Limit == "":
		return fmt.Errorf("%slimit is missing: name one of GET /v1/limits", place)
	case n.Key == nil:
		return fmt.Errorf("%skey is missing: give one, if only \"\"", place)
	}
	return nil
}

// ask is a number of events of a key. No N is 1, unlike an N of 0.
type ask struct {
	named
	N *int64 `json:"n"`
}

func (a *ask) given() bool { return a.Limit != "" || a.Key != nil || a.N != nil }

func (a *ask) events() int64 {
	if a.N == nil {
		return 1
	}
	return *a.N
}

func (a *ask) check(place string) error {
	if err := a.named.check(place); err != nil {
		return err
	}
	if a.events() < 0 {
		return fmt.Errorf("%sn is %d: give 0 events or more", place, a.events())
	}
	return nil
}

// duration reads a field of seconds, to the nanosecond above. Absent is an error, and so is
// what is not above 0 and up to most.
func duration(field string, seconds *float64, most time.Duration) (time.Duration, error) {
	switch {
	case seconds == nil:
		return 0, fmt.Errorf("%s is missing: give a number of seconds", field)
	case *seconds <= 0 || *seconds > most.Seconds():
		return 0, fmt.Errorf("%s is %g: give seconds, more than 0 and at most %.0f", field, *seconds, most.Seconds())
	}
	return min(time.Duration(math.Ceil(*seconds*1e9)), most), nil
}

// about is a request about one key.
type about interface {
	limit() string
	check(place string) error
}

// read decodes the body of a request about one key, and finds its limit: see find.
func (d *Daemon) read(w http.ResponseWriter, r *http.Request, into about) (l stint.Limit, ok bool) {
	if status, err := decode(w, r, into); err != nil {
		fail(w, status, "%v", err)
		return l, false
	}
	return d.find(w, into)
}

// find is the limit of a request that is in order. If it returns false, it has answered
// what is wrong.
func (d *Daemon) find(w http.ResponseWriter, req about) (l stint.Limit, ok bool) {
	if err := req.check(""); err != nil {
		fail(w, http.StatusBadRequest, "%v", err)
		return l, false
	}
	if l, ok = d.node.Limit(req.limit()); !ok {
		fail(w, http.StatusNotFound, "%v", unknown(req.limit()))
	}
	return l, ok
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

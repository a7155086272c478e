package daemon

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/stint-go/stint"
)

// holdRequest is the body of POST /v1/hold.
type holdRequest struct {
	ask
	TTL *float64 `json:"ttl"` // seconds
}

func (h *holdRequest) check(place string) error {
	if err := h.ask.check(place); err != nil {
		return err
	}
	if h.events() == 0 {
		return errors.New("n is 0: hold 1 event or more, or look with GET /v1/peek")
	}
	_, err := duration("ttl", h.TTL, maxLife)
	return err
}

func (d *Daemon) hold(w http.ResponseWriter, r *http.Request) {
	var req holdRequest
	limit, ok := d.read(w, r, &req)
	if !ok {
		return
	}
	ttl, _ := duration("ttl", req.TTL, maxLife) // as checked
	h, err := d.node.Hold(r.Context(), *req.Key, limit, req.events(), ttl)
	if err != nil {
		d.failed(w, "hold", err)
		return
	}
	body := struct {
		decisionBody
		Hold string `json:"hold,omitempty"`
	}{decisionBody: decision(&h.Decision)}
	if h.OK {
		body.Hold = h.ID().String()
	}
	answer(w, &h.Decision, body)
}

// ended is the body of POST /v1/release.
type ended struct {
	Hold string `json:"hold"`
}

// settled is the body of POST /v1/settle.
type settled struct {
	ended
	N *int64 `json:"n"` // no default: what was spent is not to be guessed
}

func (e *ended) id() (stint.HoldID, error) {
	if e.Hold == "" {
		return stint.HoldID{}, errors.New("hold is missing: give what POST /v1/hold answered with")
	}
	return stint.ParseHoldID(e.Hold)
}

func (d *Daemon) settle(w http.ResponseWriter, r *http.Request) {
	var req settled
	if status, err := decode(w, r, &req); err != nil {
		fail(w, status, "%v", err)
		return
	}
	id, err := req.id()
	switch {
	case err != nil:
	case req.N == nil:
		err = errors.New("n is missing: say how many events were spent, 0 if none")
	case *req.N < 0:
		err = fmt.Errorf("n is %d: say how many events were spent, 0 or more", *req.N)
	}
	if err != nil {
		fail(w, http.StatusBadRequest, "%v", err)
		return
	}
	d.end(w, d.node.Settle(r.Context(), id, *req.N))
}

func (d *Daemon) release(w http.ResponseWriter, r *http.Request) {
	var req ended
	if status, err := decode(w, r, &req); err != nil {
		fail(w, status, "%v", err)
		return
	}
	id, err := req.id()
	if err != nil {
		fail(w, http.StatusBadRequest, "%v", err)
		return
	}
	d.end(w, d.node.Release(r.Context(), id))
}

// end answers for a hold that has ended, or could not.
func (d *Daemon) end(w http.ResponseWriter, err error) {
	if err != nil {
		d.failed(w, "settle", err)
		return
	}
	reply(w, http.StatusOK, okBody{true})
}

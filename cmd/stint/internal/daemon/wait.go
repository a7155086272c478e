package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/stint-go/stint"
)

// maxWait bounds what a take may wait.
const maxWait = time.Hour

// check says what is wrong with the request of a take of one key.
func (r *request) check(place string) error {
	if err := r.ask.check(place); err != nil || r.Wait == nil || *r.Wait == 0 {
		return err
	}
	if r.events() == 0 {
		return errors.New("n is 0: a peek does not wait, so leave wait out")
	}
	if _, err := duration("wait", r.Wait, maxWait); err != nil {
		return fmt.Errorf("%w, or 0 not to wait", err)
	}
	return nil
}

// takeInTurn takes once it can be admitted and those who waited before it have been. If
// that is not in time, it answers so at once. A client that goes away takes nothing.
func (d *Daemon) takeInTurn(w http.ResponseWriter, r *http.Request, req *request, limit stint.Limit) {
	wait, _ := duration("wait", req.Wait, maxWait) // as checked
	// Without a deadline there is nothing to put off. That of reading is over with the body.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(wait + timeout))
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	err := d.node.Wait(ctx, *req.Key, limit, req.events())
	var late *stint.WaitError
	switch {
	case err == nil:
		dec := d.node.Peek(*req.Key, limit)
		dec.OK, dec.RetryAfter, dec.Delay = true, 0, 0
		answer(w, &dec, decision(&dec))
	case r.Context().Err() != nil: // if it is the client that has gone, nobody reads this
		fail(w, http.StatusServiceUnavailable, "shutting down: nothing was taken, ask another node")
	case errors.As(err, &late):
		d.refuseWait(w, req, limit, late.Wait)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, stint.ErrNever), errors.Is(err, stint.ErrQueueFull):
		d.refuseWait(w, req, limit, time.Second)
	default:
		d.failed(w, "take", err)
	}
}

// refuseWait answers a take that could not be had in time: not before a certain time if
// nothing but the line stands in its way.
func (d *Daemon) refuseWait(w http.ResponseWriter, req *request, limit stint.Limit, line time.Duration) {
	dec := d.node.PeekN(*req.Key, limit, req.events())
	if dec.OK {
		dec.OK, dec.RetryAfter, dec.Delay = false, line, 0
	}
	answer(w, &dec, decision(&dec))
}

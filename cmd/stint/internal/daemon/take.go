package daemon

import (
	"net/http"
	"strconv"
	"time"
)

// DecidedAt is the header of an answer with two wall-clock times of this machine, in Unix
// nanoseconds: just before and just after the decision. stint load orders takes by it. A
// take that waited has none.
const DecidedAt = "Stint-Decided-At"

// request is the body of POST /v1/take.
type request struct {
	ask
	Wait  *float64 `json:"wait"` // seconds
	Takes []ask    `json:"takes"`
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
	limit, ok := d.find(w, &req)
	if !ok {
		return
	}
	if req.Wait != nil && *req.Wait != 0 {
		d.takeInTurn(w, r, &req, limit)
		return
	}
	from := time.Now()
	dec, err := d.node.Take(r.Context(), *req.Key, limit, req.events())
	stamp(w, from)
	if err != nil {
		d.failed(w, "take", err)
		return
	}
	answer(w, &dec, decision(&dec))
}

// stamp notes when the decision was made: after from, and before now.
func stamp(w http.ResponseWriter, from time.Time) {
	b := strconv.AppendInt(make([]byte, 0, 40), from.UnixNano(), 10)
	b = append(b, ' ')
	b = strconv.AppendInt(b, from.Add(time.Since(from)).UnixNano(), 10)
	w.Header().Set(DecidedAt, string(b))
}

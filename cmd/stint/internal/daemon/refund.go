package daemon

import "net/http"

// returnedBody says how many events came back.
type returnedBody struct {
	Returned int64 `json:"returned"`
}

// giveBack gives events back that were taken and not used.
func (d *Daemon) giveBack(w http.ResponseWriter, r *http.Request) {
	var req ask
	limit, ok := d.read(w, r, &req)
	if !ok {
		return
	}
	n, err := d.node.Return(r.Context(), *req.Key, limit, req.events())
	if err != nil {
		d.failed(w, "return", err)
		return
	}
	reply(w, http.StatusOK, returnedBody{n})
}

// reset gives back all that a key has used.
func (d *Daemon) reset(w http.ResponseWriter, r *http.Request) {
	var req named
	limit, ok := d.read(w, r, &req)
	if !ok {
		return
	}
	n, err := d.node.Reset(r.Context(), *req.Key, limit)
	if err != nil {
		d.failed(w, "reset", err)
		return
	}
	reply(w, http.StatusOK, returnedBody{n})
}

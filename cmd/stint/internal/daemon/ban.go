package daemon

import (
	"net/http"
	"time"

	"github.com/stint-go/stint"
)

// maxLife is the longest that a ban or a hold may last: that of the node.
const maxLife = 3652 * 24 * time.Hour

// banRequest is the body of POST /v1/ban.
type banRequest struct {
	named
	For *float64 `json:"for"` // seconds
}

func (b *banRequest) check(place string) error {
	if err := b.named.check(place); err != nil {
		return err
	}
	_, err := duration("for", b.For, maxLife)
	return err
}

func (d *Daemon) ban(w http.ResponseWriter, r *http.Request) {
	var req banRequest
	limit, ok := d.read(w, r, &req)
	if !ok || !banning(w, req.Limit, limit) {
		return
	}
	last, _ := duration("for", req.For, maxLife) // as checked
	if err := d.node.Ban(r.Context(), *req.Key, limit, last); err != nil {
		d.failed(w, "ban", err)
		return
	}
	reply(w, http.StatusOK, okBody{true})
}

func (d *Daemon) unban(w http.ResponseWriter, r *http.Request) {
	var req named
	limit, ok := d.read(w, r, &req)
	if !ok || !banning(w, req.Limit, limit) {
		return
	}
	if err := d.node.Unban(r.Context(), *req.Key, limit); err != nil {
		d.failed(w, "unban", err)
		return
	}
	reply(w, http.StatusOK, okBody{true})
}

// banning says whether a limit has keys that can be banned. If not, it has answered.
func banning(w http.ResponseWriter, name string, l stint.Limit) bool {
	if l.Algorithm == stint.Unmetered || l.Events == 0 {
		fail(w, http.StatusBadRequest, "limit %q is %s and keeps no keys: ban them under another", name, l)
		return false
	}
	return true
}

type banBody struct {
	Limit string  `json:"limit"`
	Key   string  `json:"key"`
	For   float64 `json:"for"` // seconds, still
}

func (d *Daemon) bans(w http.ResponseWriter, _ *http.Request) {
	all := []banBody{}
	for _, b := range d.node.Bans() {
		all = append(all, banBody{b.Limit, b.Key, seconds(b.For)})
	}
	reply(w, http.StatusOK, map[string]any{"bans": all})
}

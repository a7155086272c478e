package stint

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/stint-go/stint/internal/statefile"
	"github.com/stint-go/stint/internal/table"
)

// stateEvery is how often the state file is written; less often where it takes long, so
// that a twentieth of the time at most goes into it.
const stateEvery = 5 * time.Second

// keeper writes the state file.
type keeper struct {
	node *Node
	done chan struct{} // closed when nothing writes any more but Close
	said string        // what was logged last

	read   map[*table.Limit]statefile.Limit // what the file had when it was read; some may not be in force yet
	copied copied                           // of the table, for the part that is being written
}

// keep writes the file until the node stops.
func (k *keeper) keep() {
	defer close(k.done)
	timer := time.NewTimer(stateEvery)
	defer timer.Stop()
	for {
		select {
		case <-k.node.stop:
			return
		case <-timer.C:
		}
		start := k.node.now()
		k.log(k.save())
		timer.Reset(max(stateEvery, 20*time.Duration(k.node.now()-start)))
	}
}

// log says once what is wrong, and that it is not any more.
func (k *keeper) log(err error) {
	said := ""
	if err != nil {
		said = err.Error()
	}
	switch {
	case said == k.said:
	case err != nil:
		k.node.cfg.Logger.Error("state file not written: a restart would lose the counts", "file", k.node.cfg.StateFile, "err", err)
	default:
		k.node.cfg.Logger.Info("state file is written again", "file", k.node.cfg.StateFile)
	}
	k.said = said
}

// openState reads the state file, if Config names one, and has it written from now on. A
// file that cannot be taken is put aside and the node starts empty.
func (n *Node) openState() {
	if n.cfg.StateFile == "" {
		return
	}
	n.keeper = &keeper{node: n, done: make(chan struct{}), read: make(map[*table.Limit]statefile.Limit)}
	now := n.now()
	r := &reader{node: n, now: now, was: now, limits: make(map[uint64]readLimit)}
	err := r.read()
	switch {
	case err == nil:
		n.cfg.Logger.Info("state file read", "file", n.cfg.StateFile, "keys", r.keys)
	case errors.Is(err, fs.ErrNotExist):
	default:
		n.cfg.Logger.Error("state file refused: starting with empty counts", "file", n.cfg.StateFile, "err", err, "kept", n.putAside(err))
	}
}

// putAside keeps a file that would be overwritten, and returns where it is.
func (n *Node) putAside(err error) string {
	if errors.Is(err, statefile.ErrForeign) {
		return n.cfg.StateFile // nobody will overwrite it
	}
	aside := n.cfg.StateFile + ".refused"
	if err := os.Rename(n.cfg.StateFile, aside); err != nil {
		return fmt.Sprintf("not kept: %v", err)
	}
	return aside
}

package stint

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"time"

	"github.com/stint-go/stint/gossip"
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

	read map[*table.Limit]statefile.Limit // what the file had when it was read; some may not be in force yet
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

// save writes the file. Takes go on: a shard of the table is locked for as long as it takes
// to copy it.
func (k *keeper) save() error {
	n, texts := k.node, k.texts()
	now := n.now()
	before := k.records(now)
	header := statefile.Header{Seed: fingerprint(n.cfg.HashSeed), Wall: n.table.Wall(now)}
	return statefile.Write(n.cfg.StateFile, header, func(w *statefile.Writer) error {
		for _, text := range texts {
			w.Limit(text)
		}
		n.table.Dump(now, func(l *table.Limit, s *table.Saved) {
			if _, known := texts[l]; known { // else a peer's, and not in force here
				row := rowOf(l, s, now)
				w.Row(&row)
			}
		})
		// A hold made or settled meanwhile may or may not be in its key's row. Without its
		// record what the row has stays spent, and comes back as the limit's events do.
		for key, r := range k.records(now) {
			if before[key] == r {
				reg := registerOf(&r, now)
				w.Register(&reg)
			}
		}
		return w.Err()
	})
}

// records are the open holds and the bans.
func (k *keeper) records(now int64) map[gossip.RecordKey]gossip.Record {
	n := k.node
	n.mu.Lock()
	defer n.mu.Unlock()
	records := make(map[gossip.RecordKey]gossip.Record)
	for _, r := range append(n.engine.Holds(now), n.engine.Bans(now)...) {
		records[r.Key()] = r
	}
	return records
}

// texts is the limits that the file is about: those in force, and those read that are not
// in force again yet.
func (k *keeper) texts() map[*table.Limit]statefile.Limit {
	texts := maps.Clone(k.read)
	for _, c := range k.node.limits.all() {
		texts[c.table] = statefile.Limit{ID: c.table.ID(), Name: c.name, Text: c.current.Load().String()}
	}
	return texts
}

func rowOf(l *table.Limit, s *table.Saved, now int64) statefile.Row {
	row := statefile.Row{Limit: l.ID(), Hash: s.Hash, At: s.At, Rem: s.Rem, Counts: s.Counts}
	if l.Def().Kind == table.Bucket {
		row.At -= now
	}
	for _, e := range s.Log {
		row.Log = append(row.Log, statefile.Event{At: e.At - now, N: e.N})
	}
	return row
}

func registerOf(r *gossip.Record, now int64) statefile.Register {
	reg := statefile.Register{
		Kind: uint8(r.Kind), Limit: r.Limit, Hash: r.Hash, Maker: r.Maker, ID: r.ID, Version: r.Version, Writer: r.Writer,
		Open: r.Open, N: r.N, Start: r.Start, Per: r.Per, Until: r.Until - now, Label: r.Label,
	}
	if r.Per == 0 {
		reg.Start -= now
	}
	return reg
}

// openState reads the state file, if Config names one, and has it written from now on. A
// file that cannot be taken is put aside and the node starts empty.
func (n *Node) openState() {
	if n.cfg.StateFile == "" {
		return
	}
	n.keeper = &keeper{node: n, done: make(chan struct{}), read: make(map[*table.Limit]statefile.Limit)}
	now := n.now()
	r := &reader{node: n, now: now, was: now, limits: make(map[uint64]*table.Limit)}
	err := statefile.Read(n.cfg.StateFile, fingerprint(n.cfg.HashSeed), r)
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

package stint

import (
	"fmt"
	"time"

	"github.com/stint-go/stint/cluster"
	"github.com/stint-go/stint/gossip"
)

// loop is the node's own goroutine. It steps the engine when time has come, and when an
// entry becomes urgent; frames of peers step it from the goroutines they arrive on.
func (n *Node) loop() {
	defer close(n.stopped)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-n.stop:
			return
		case <-n.wake:
		case <-timer.C:
		}
		n.mu.Lock()
		n.stepLocked()
		wait := n.wakeAt - n.now()
		n.unlock()
		timer.Reset(time.Duration(wait))
	}
}

// poke is the table saying that an entry has become urgent.
func (n *Node) poke() {
	if n.engine.Poke() {
		n.rouse()
	}
}

func (n *Node) rouse() {
	select {
	case n.wake <- struct{}{}:
	default:
	}
}

// stepLocked does what is due and settles when the loop looks again. With n.mu held.
func (n *Node) stepLocked() {
	now := n.now()
	if n.retired {
		n.wakeAt = n.engine.Serve(now)
	} else {
		n.wakeAt = n.engine.Step(now)
	}
	if n.quiet != nil && n.engine.Quiet() {
		close(n.quiet)
		n.quiet = nil
	}
	select {
	case <-n.ready:
	default:
		if !n.engine.Joining() && n.engine.Heard() {
			close(n.ready)
		}
	}
}

// unlock frees n.mu and then logs what the engine wanted to be known: a Logger may call
// the node.
func (n *Node) unlock() {
	notes := n.notes
	n.notes = nil
	n.mu.Unlock()
	for _, note := range notes {
		n.cfg.Logger.Warn(note.Text, "peer", n.nameOf(note.Peer))
	}
}

// note is the engine's word to the operator, with n.mu held.
func (n *Node) note(note gossip.Note) { n.notes = append(n.notes, note) }

// act has the engine take something in, and the loop look again if it must sooner.
func (n *Node) act(f func(now int64)) {
	n.mu.Lock()
	before := n.wakeAt
	f(n.now())
	n.stepLocked()
	sooner := n.wakeAt < before
	n.unlock()
	if sooner {
		n.rouse()
	}
}

// receive is a frame of a peer, on the goroutine of its link.
func (n *Node) receive(from uint64, frame []byte) {
	var err error
	n.act(func(now int64) { err = n.engine.Receive(now, from, frame) })
	if err != nil {
		n.malformed.Add(1)
		n.cfg.Logger.Debug("frame dropped", "peer", n.nameOf(from), "err", err)
	}
}

// change is what has become of a member.
func (n *Node) change(e cluster.Event) {
	if e.Member.Self {
		return
	}
	n.act(func(now int64) {
		peer := e.Member.Incarnation
		switch e.Kind {
		case cluster.MemberUp:
			n.engine.Up(now, peer, e.Member.Name)
		case cluster.MemberDown:
			n.engine.Down(now, peer)
		case cluster.LinkUp:
			n.engine.Open(now, peer)
		case cluster.LinkDown:
			n.engine.Closed(peer)
		}
	})
}

// send and redial are the engine's words to the cluster, with n.mu held. A frame that
// finds no room on its link is sent again by the protocol.
func (n *Node) send(f gossip.Frame) { n.cluster.Send(f.To, f.Data, f.Body) }

func (n *Node) redial(to uint64) { n.cluster.Redial(to) }

// nameOf is what people call a peer.
func (n *Node) nameOf(incarnation uint64) string {
	if n.cluster != nil {
		for _, m := range n.cluster.Members() {
			if m.Incarnation == incarnation {
				return m.Name
			}
		}
	}
	return fmt.Sprintf("%016x", incarnation)
}

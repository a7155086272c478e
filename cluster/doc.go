// Package cluster tells a node who else is there and carries bytes to them.
//
// # Membership
//
// A Cluster finds its peers by gossip (hashicorp/memberlist, used for that
// alone): it joins through seeds, learns of members from members, and notices
// within a second or two that one has died. A member is a process: it is known
// by its incarnation, a random number drawn at its start, so that a process
// killed and started again under the same name and address is seen as a death
// and a birth. What changes is told through Config.Change, in order.
//
// Membership does not heal by itself after a partition. A Cluster therefore
// goes on looking for its seeds and for every member it has lost, every few
// seconds, and one that started alone keeps looking until it finds company.
//
// # Links
//
// To every other member that is alive there is one outgoing stream, on the same
// port as membership, and from it one incoming. A frame given to Send travels
// on the outgoing stream; frames of a stream arrive in order, each once, and
// those that were under way when a stream broke are lost. There are no
// acknowledgements here: who needs certainty says so in the frames. A link that
// breaks is dialled again for as long as the member is alive.
//
// # Security
//
// With Config.Keys, everything on the port is sealed: packets by memberlist, with
// AES-GCM; every stream by TLS 1.3, with certificates that are derived of the
// keys and pinned, so that one secret admits to membership and links. Recorded
// streams cannot be read later, even with the key, nor replayed. A recorded
// packet can be said again; it then repeats old news about who is there, which
// membership numbers, and which holds for seconds at most. What looks like a packet
// or stream of memberlist's older way to seal, which it cannot read safely, is kept
// from it. Config.TLS is for
// those who have certificates of their own for links. Who has a key is trusted.
//
// Strangers are bounded: in how many streams they hold, how long, how much of
// them is read and how much is logged.
//
// # Concurrency
//
// Every method of Cluster is safe for concurrent use, before and after Close.
// Config.Change and Config.Frame are called with no lock held, possibly before
// Open has returned, never after Close has. The two are not ordered with each
// other: a frame may come before the MemberUp of its sender, and after its
// MemberDown.
package cluster

// Package memnet is a network in memory, for tests of programs that talk
// through a cluster.Transport: packets and streams between hosts that exist
// only inside the process, with the faults of real networks at the test's
// command.
//
// A Network holds hosts by IP address. Each Host is a transport: hand it to a
// node, and the node listens and dials there. Faults (loss, delay, jitter,
// duplicates, reordering) are set for the whole network or for one direction
// between two hosts; Cut, Split and Heal break and mend the topology;
// BreakStreams resets connections; Host.Crash ends a host as kill -9 ends a
// process.
//
// # What it models
//
// Packets are lost, doubled, delayed and overtaken one by one. A packet sent
// across a cut is gone. A receiver that does not read loses packets beyond
// 4096, as a full socket buffer would.
//
// Streams never lose or reorder bytes. A lost segment arrives 200 ms late and
// holds up what follows it. A stream across a cut, in either direction, stalls:
// neither side is told, writes succeed until 256 KiB are unread and then block
// until their deadline, and all of it moves on when the network heals. (Real
// TCP resumes only at its next retransmission, seconds later.) To dial a port
// where nobody listens is refused; to dial across a cut, or an address that no
// host has, waits for the context to end.
//
// # Time and chance
//
// All waiting goes through package time and channels made by the Network, so a
// network created inside a testing/synctest bubble runs on the bubble's clock:
// ten minutes of partition take no time:
//
//	synctest.Test(t, func(t *testing.T) {
//		net := memnet.New(1)
//		node, err := cluster.Open(cluster.Config{Name: "a", Transport: net.Host("10.0.0.1")})
//		// …
//		net.Split("10.0.0.1")
//		time.Sleep(10 * time.Minute)
//		net.Heal()
//	})
//
// No goroutines run in the background and nothing blocks on a dead peer. Outside
// a bubble it runs on the wall clock.
//
// Every pair of hosts draws its random numbers from a sequence of its own,
// derived from the seed given to New, so that the fate of the n-th packet from
// one host to another does not depend on what other hosts do. (The order in
// which goroutines send is the scheduler's, and not repeated.)
//
// Everything in the package is safe for concurrent use.
package memnet

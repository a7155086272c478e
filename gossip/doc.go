// Package gossip is the protocol by which nodes tell each other what they have
// spent, held and banned: a pure state machine, without clock, socket, lock or
// goroutine.
//
// A [Ledger] answers three questions for one node: what have I spent, who has heard
// how much of it, and how much of each peer's have I applied?
//
// What a node spends goes into its log, one numbered drain after another
// ([Ledger.Append]). A link is a cursor into that log: a batch covers the drains
// (from, to] and a peer applies it if and only if from is its own number for this
// log; then the number becomes to and is acknowledged. What a peer already has is
// dropped, a gap is asked for again. So every amount is applied exactly once, whatever
// the network does, and amounts are plain sums: no counter per key and peer, nothing
// to merge by maximum.
//
// Drains that no peer's cursor separates coalesce, so that a slow or absent peer costs
// one entry a key. Amounts of windows are of one window each and leave the log when that
// is over. The log has a bound in bytes; a cursor that falls off its end
// skips, and what it skips is counted.
//
// Holds and bans are registers that every node keeps ([Record], [Ledger.Put]): of two
// versions the newer stands, so they may come twice and in any order.
//
// The machine takes values in ([Ledger.Receive], [Ledger.Append], [Ledger.Tick], …)
// and gives values out ([Ledger.Output]): charges to apply, frames to send. Times are
// the caller's monotonic nanoseconds. The wire form is in docs/protocol.md; the rules
// of sessions and boundaries, and why each is there, in docs/design.md.
//
// A Ledger is not safe for concurrent use.
package gossip

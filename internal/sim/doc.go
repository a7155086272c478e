// Package sim runs whole clusters in one thread and on virtual time: real engines over
// real tables and logs, a network that loses, doubles, reorders, delays and cuts,
// members that die, are taken for dead and come back, and an oracle outside that
// watches every event.
//
// A [World] is a heap of events in a total order of (time, sequence) and one source of
// chance, so that a seed gives the same run, to the byte of its trace, for ever. Nodes
// do what the root package's do: an engine steps when it is due, when it has taken
// something in, and at once when its table pokes it. Each has a monotonic clock of its
// own, and each place a wall clock, which may be hours off and may be set.
//
// What the oracle holds the nodes to (the numbers are those of the promises in
// docs/design.md; a check is in the file in brackets):
//
//   - 2, exactly once: what a frame has its receiver charge is just what the origin
//     drained in the stretch of its log that the frame covers, each amount in its window
//     [audit.go]; once all is quiet, that is all of it, and no balance is above that of
//     the same takes in order of time, nor, where no refill was discarded, below it by
//     more than one [quiet.go]. Windows and logs have counted, at any time, what a naive
//     account says, and of a current window all nodes as much [tally.go, counts.go].
//   - 3, bounded overshoot: no admission overspends a bucket, a window or a log of the
//     whole cluster by more events than its node has not heard of [central.go]; in touch
//     and at a constant delay that is at most the sum over the others of θ − 1 and what
//     they spent in the last τ + g [bound.go].
//   - 4, overshoot is repaid: the rate in the long run [central.go].
//   - 5, a refusal changes nothing [take.go]; what remains is within 0 … burst, a banned
//     key has nothing left and no other is refused what is left of it [tally.go].
//   - Of holds and bans all nodes have the same record, the last word of those who live,
//     and do what it says: a hold counts as what was settled, or nothing once it is over
//     [holds.go, records.go]. What is given back lifts nothing above full [verbs.go].
//   - A jump of the clock mints nothing [walls.go], and what is used stays used when a
//     limit changes [change.go].
//
// An exception is where the rules have one: an amount whose window is over counts nowhere,
// and of windows that are current when a node's cluster time jumps, or when it cuts
// windows anew, nobody can tell what it counts; nodes are compared again from the next on.
//
// To replay a seed that failed, with a line for every frame, take, drain and fault:
//
//	go test ./internal/sim -run TestSeeds -sim.seed=42 -sim.trace
//
// The line that begins with BROKEN is the last; grep for the two nodes it names, and
// read upwards. In a trace, n1† is an incarnation that has crashed, s3 a session of the
// log of the frame's origin, (5, 7] the drains that a batch covers, and {3 2} two events
// of the third spot, a key or one window of it. [Options] has what a seed does not choose: a directed test builds
// its own [World] and calls [World.Take], [World.Drive] and [World.Run].
//
// A [Mutant] breaks one rule of the protocol from outside. That each makes some seed fail
// is what shows that the oracle sees.
package sim

// Package sim runs whole clusters in one thread and on virtual time: real engines over
// real tables and logs, a network that loses, doubles, reorders, delays and cuts,
// members that die, are taken for dead and come back, and an oracle outside that
// watches every event.
//
// A [World] is a heap of events in a total order of (time, sequence) and one source of
// chance, so that a seed gives the same run, to the byte of its trace, for ever. Nodes
// do what the root package's do: an engine steps when it is due, when it has taken
// something in, and at once when its table pokes it. Each has a clock of its own.
//
// What the oracle holds the nodes to (the numbers are those of the promises in
// docs/design.md; a check is in the file in brackets):
//
//   - 2, exactly once: what a frame has its receiver charge is just what the origin
//     drained in the stretch of its log that the frame covers [audit.go]; once all is
//     quiet, that is all of it, and no balance is above that of the same takes in order
//     of time, nor, where no refill was discarded, below it by more than one [quiet.go].
//   - 3, bounded overshoot: no admission overspends a central bucket by more events
//     than its node has not heard of [central.go]; in touch and at a constant delay
//     that is at most the sum over the others of θ − 1 and what they spent in the last
//     τ + g [bound.go].
//   - 4, overshoot is repaid: the rate in the long run [central.go].
//   - 5, a refusal changes nothing; what remains is within 0 … burst [take.go].
//
// To replay a seed that failed, with a line for every frame, take, drain and fault:
//
//	go test ./internal/sim -run TestSeeds -sim.seed=42 -sim.trace
//
// The line that begins with BROKEN is the last; grep for the two nodes it names, and
// read upwards. In a trace, n1† is an incarnation that has crashed, s3 a session of the
// log of the frame's origin, (5, 7] the drains that a batch covers, and {3 2} two events
// of the third key. [Options] has what a seed does not choose: a directed test builds
// its own [World] and calls [World.Take], [World.Drive] and [World.Run].
//
// A [Mutant] breaks one rule of the protocol from outside. That each makes some seed fail
// is what shows that the oracle sees.
package sim

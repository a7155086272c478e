// Package stint limits rates across the nodes of a service. Every node decides
// in its own memory and tells its peers what it has spent; together they hold
// one limit per key, without a central store and without a network call on the
// way of a request.
//
// # A start
//
//	node, err := stint.Open(stint.Config{
//		Bind: "10.0.0.5:7946",
//		Join: []string{"10.0.0.6:7946"},
//	})
//	if err != nil {
//		return err
//	}
//	defer node.Close(context.Background())
//
//	api := node.Limiter(stint.PerSecond(100).WithName("api"))
//
//	if d := api.Allow(userID); !d.OK {
//		// refused: try again after d.RetryAfter
//	}
//
// The zero [Config] opens a node that stands alone and listens nowhere, which is
// what a test or a single process wants. Nothing else changes when peers come.
//
// # Limits
//
// A [Limit] is a value: so many events per period, a burst, an algorithm, a
// mode, and a name that keeps it apart from other limits. Make one with
// [PerSecond] and its kin, or from text with [ParseLimit]. Limits are few and
// defined by the program or its configuration; keys (users, addresses, routes)
// are many and may come from anybody.
//
// Bind a limit to a node once with [Node.Limiter] and use the [Limiter] for
// ever: that is the fast way. [Node.Allow] takes the limit along with each call.
// A limit can be changed while in use with [Node.SetLimit]; what its keys have
// spent stays spent.
//
// # Decisions
//
// To take is to ask for events of a key. A [Decision] says whether they may
// happen, how many more could, and after how long it is worth asking again. A
// refusal is not an error, costs the key nothing and changes nothing. Waiting
// for RetryAfter is enough if nobody else takes meanwhile; it is [Never] when no
// wait can help, because more was asked than the limit ever holds.
//
// A take for several limits at once that must not charge the first when the
// second refuses is [Node.TakeAll].
//
// # Other verbs
//
// [Limiter.Wait] waits for its turn, [Limiter.Reserve] makes a take that can be
// cancelled, and [Limiter.Hold] one whose cost is known only afterwards.
// [Limiter.Return] and [Limiter.Reset] give back, [Limiter.Ban] refuses
// everything. What they do, they do on every node.
//
// # Modes
//
// In mode [Local] each node has the whole limit to itself. In mode [Shared], the
// default, all nodes hold it together: each decides at once from what it knows,
// and sends news of what it spends, the sooner the closer a key is to its limit.
// What is spent twice because news was still under way is the overshoot. It is
// bounded by what the other nodes spent in that time, and it is repaid: the key
// goes into debt and the rate in the long run is the limit's. A burst that
// strikes all nodes in the same instant is inside that bound, and the bound is
// then large: up to one burst for each node. Cut off from its peers, a node goes
// on with what it knows. Mode [Strict] asks a store that all nodes share, on
// every take.
//
// [Node.Stats] shows the bound as it is now, from the age of the news that
// arrives.
//
// # Memory
//
// A node keeps one small entry for each key in use and none for a key that has
// its whole budget. The table has a hard bound, Config.MaxKeys. When it is
// full, keys that carry no information go first, and no flood of fresh keys
// makes a limited key forget that it is limited.
//
// # Concurrency and closing
//
// Everything here is safe for concurrent use, and taking allocates nothing.
// [Node.Close] says goodbye to the peers for as long as its context allows, and
// stops everything. Decisions go on after it, from what the node knew, so that a
// server that is being drained still limits.
package stint

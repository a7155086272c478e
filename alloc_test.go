package stint_test

import (
	"context"
	"testing"

	"github.com/stint-go/stint"
)

// Promise 1: a take allocates nothing, recorded for peers or not, admitted or refused.
func TestTakesAllocateNothing(t *testing.T) {
	inBubble(t, func(r *rig) {
		nodes := map[string]*stint.Node{"alone": r.alone(), "with peers": r.cluster(2)[0]}
		for name, n := range nodes {
			many, few := stint.PerHour(1<<40).WithName("many"), stint.PerHour(1).WithName("few")
			unnamed, local := stint.PerHour(1<<40), stint.PerHour(1<<40).WithName("local").WithMode(stint.Local)
			lim, none := n.Limiter(many), n.Limiter(few)
			takes := []stint.Take{{Limiter: lim, Key: "a"}, {Limit: many, Key: "b", N: 2}, {Limit: local, Key: "a"}}
			refused := append(takes[:2:2], stint.Take{Limiter: none, Key: "a"})
			eight := append(append(takes, takes...), takes[:2]...)
			into := make([]stint.Decision, 8)
			ctx := context.Background()
			verbs := map[string]func(){
				"Node.Allow":             func() { n.Allow("ann", many) },
				"Node.Allow, unnamed":    func() { n.Allow("ann", unnamed) },
				"Node.AllowN":            func() { n.AllowN("ann", many, 3) },
				"Node.Allow, refused":    func() { n.Allow("ann", few) },
				"Node.Take":              func() { n.Take(ctx, "ann", many, 1) },
				"Node.Peek":              func() { n.Peek("ann", many) },
				"Limiter.Allow":          func() { lim.Allow("ann") },
				"Limiter.AllowN":         func() { lim.AllowN("ann", 3) },
				"Limiter.Allow, refused": func() { none.Allow("ann") },
				"Limiter.Allow, local":   func() { n.Allow("ann", local) },
				"Limiter.Take":           func() { lim.Take(ctx, "ann", 1) },
				"Limiter.Peek":           func() { lim.Peek("ann") },
				"TakeAll of 3":           func() { n.TakeAll(ctx, takes, into) },
				"TakeAll of 3, refused":  func() { n.TakeAll(ctx, refused, into) },
				"TakeAll of 8":           func() { n.TakeAll(ctx, eight, into) },
			}
			for verb, f := range verbs {
				if got := testing.AllocsPerRun(200, f); got != 0 {
					t.Errorf("%s: %s: got %v allocations, want none", name, verb, got)
				}
			}
		}
	})
}

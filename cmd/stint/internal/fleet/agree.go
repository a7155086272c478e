//go:build unix

package fleet

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Agree waits until the counts of all keys at all nodes are right, and returns them, by key
// and node, and how long that took. used turns what is left of a key into its count.
func (b *Book) Agree(ctx context.Context, nodes []*Node, within time.Duration, used func(k Key, left int64) int64) (counts [][]int64, took time.Duration, err error) {
	want := b.Want()
	var wrong error
	took, err = Await(within, func() bool {
		counts, wrong = b.counts(nodes, used)
		for i := 0; i < len(want) && len(counts) > 0; i++ {
			if err := want[i].Check(counts[i]); err != nil {
				wrong = errors.Join(wrong, fmt.Errorf("%v: %w", b.Keys[i], err))
			}
		}
		return wrong == nil || ctx.Err() != nil
	})
	if wrong != nil {
		return counts, took, fmt.Errorf("%w: %w", errors.Join(err, ctx.Err()), wrong)
	}
	return counts, took, err
}

func (b *Book) counts(nodes []*Node, used func(Key, int64) int64) (counts [][]int64, err error) {
	for _, k := range b.Keys {
		all := make([]int64, len(nodes))
		for j, n := range nodes {
			left, err := n.Remaining(k.Limit, k.Key)
			if err != nil {
				return nil, err
			}
			all[j] = used(k, left)
		}
		counts = append(counts, all)
	}
	return counts, nil
}

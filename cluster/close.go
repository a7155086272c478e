package cluster

import (
	"context"
	"fmt"
	"time"
)

const (
	maxCourtesy  = 5 * time.Second // that Close spends on the goodbye at most
	leaveTimeout = time.Second     // for memberlist to spread it
)

// Close sends what is queued, tells the others that this node leaves, stops
// everything and waits until nothing runs. The context, and five seconds,
// bound the goodbye alone; stopping takes under a second more. Its error says
// that the context ended before the goodbye was out: the others will find out
// by themselves. Calls after the first wait for it and return the same.
func (c *Cluster) Close(ctx context.Context) error {
	c.mu.Lock()
	first := !c.closing
	c.closing = true
	c.mu.Unlock()
	if first {
		if err := c.farewell(ctx); err != nil {
			c.ended = fmt.Errorf("cluster: closed without a full goodbye: %w", err)
		}
		c.stop()
		close(c.closed)
	}
	<-c.closed
	return c.ended
}

// farewell tells every peer over its link, and the rest by gossip.
func (c *Cluster) farewell(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	courtesy, cancel := context.WithTimeout(ctx, maxCourtesy)
	defer cancel()
	for _, l := range c.links() {
		l.leave()
	}
	for _, l := range c.links() {
		select {
		case <-l.done:
		case <-courtesy.Done():
		}
	}
	left := leaveTimeout
	if deadline, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(deadline))
	}
	if left > 0 && ctx.Err() == nil {
		if err := c.list.Leave(left); err != nil {
			c.cfg.Logger.Debug("the goodbye did not spread", "err", err)
		}
	}
	return ctx.Err()
}

func (c *Cluster) links() []*link {
	c.mu.RLock()
	defer c.mu.RUnlock()
	var all []*link
	for _, p := range c.peers {
		if p.link != nil {
			all = append(all, p.link)
		}
	}
	return all
}

// stop ends every goroutine and waits for it. memberlist does not wait for its
// own, of which a probe can last longest: as long as the probe may take.
func (c *Cluster) stop() {
	c.cancel()
	for _, l := range c.links() {
		l.stop()
	}
	c.list.Shutdown()
	c.wg.Wait()
	c.delegate.closed.Store(true)
	if c.delegate.met.Load() {
		time.Sleep(c.cfg.ProbeInterval*time.Duration(c.list.GetHealthScore()+1) + time.Millisecond)
	}
}

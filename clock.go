package stint

import "time"

// now is the node's time: monotonic nanoseconds, by the cheapest clock there is.
func (n *Node) now() int64 { return int64(time.Since(n.base)) }

// wall is what this machine's wall clock shows, in nanoseconds since the Unix epoch, less
// the node's time. The engine makes cluster time of it, by which windows are cut.
func (n *Node) wall() int64 { return time.Now().UnixNano() - n.now() }

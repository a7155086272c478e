package stint

import "errors"

// SetClusterKeys puts other cluster keys in force, as Config.ClusterKeys describes them.
// To change a key with no downtime and nothing lost, take three steps, each on every node
// before the next: add the new key as the last, make it the first, drop the old one. A node
// opened without keys gets none later, and the last cannot be taken away: that is the
// error, or that a key is bad.
func (n *Node) SetClusterKeys(keys [][]byte) error {
	if n.cluster == nil {
		return errors.New("cluster keys: this node stands alone")
	}
	return n.cluster.SetKeys(keys)
}

// Package table keeps the state of every key in memory: what is left of its bucket, what
// its windows or its log have counted, and what this node has spent on it and not yet
// told its peers.
//
// Every verb works on one entry, found by a keyed hash of limit and key (the key
// itself is never kept), under the lock of one of many small shards. An entry is
// 64 bytes without a pointer: one cache line to miss, nothing for the garbage
// collector to scan.
//
// An absent key is a full bucket, or one whose windows have counted nothing. So entries
// whose bucket is full again, or whose windows are over, and that have nothing unsent carry
// no information: they are "at rest" and may go at any time. What an entry has no room
// for its shard keeps aside: logs, bans, and what is still to be told in the terms of an
// older definition.
// The number of entries is bounded; see [Table.Take] for what happens at the bound.
//
// The package has no clock and starts no goroutine. Times are int64 nanoseconds from
// 0 on, of one monotonic clock of the caller's. Everything exported is safe for concurrent use.
//
// Locks: a shard's mutex, several of them only in index order ([Table.TakeAll], [Table.Drain]); the
// registry's mutex, never together with a shard's. Callbacks run without either.
package table

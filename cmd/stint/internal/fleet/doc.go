//go:build unix

// Package fleet runs daemons of stint serve as a cluster, breaks things, and keeps a book of
// what clients were told, so that the counts at the end can be held against it. It is for
// tests.
//
// A Fleet has Nodes, each a process: started, paused, killed, told to end, started again
// under its name. On a Net each has a network namespace of its own, where its links to the
// others can be cut, one way or both, made lossy or slow; clients reach it on another link,
// which stays. Without a Net all are on loopback.
//
// A Load takes from the nodes and writes a Book. Book.Want is, for each key, what must be
// counted at the end by every node, give or take what no client can know: requests that
// nothing came back from, and what a node that was killed had not told all others.
package fleet

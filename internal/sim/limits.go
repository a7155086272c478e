package sim

import (
	"fmt"

	"github.com/stint-go/stint/bucket"
	"github.com/stint-go/stint/internal/table"
	"github.com/stint-go/stint/window"
)

// Algorithm is how a limit decides.
type Algorithm uint8

// Algorithms. A leaky bucket counts as a token bucket does.
const (
	TokenBucket Algorithm = iota
	LeakyBucket
	FixedWindow
	SlidingWindow
	SlidingLog
)

// Limit is a limit and its keys. Every node has it, but for the last so many.
type Limit struct {
	Name      string
	Events    int64
	Per       int64 // ns
	Burst     int64 // of a bucket; else Events
	Keys      int
	Algorithm Algorithm
	Verbs     bool // workloads give back, hold and ban here

	Without int  // nodes that do not define it until World.Define
	Opaque  bool // its text means nothing to peers
}

func (l Limit) text() string {
	if l.Opaque {
		return "in words of a later version"
	}
	return fmt.Sprintf("%d/%d/%d/%d", l.Events, l.Per, l.Burst, l.Algorithm)
}

func parse(text string) table.Def {
	var l Limit
	if _, err := fmt.Sscanf(text, "%d/%d/%d/%d", &l.Events, &l.Per, &l.Burst, &l.Algorithm); err != nil {
		return table.Def{}
	}
	return l.def()
}

func (l Limit) def() table.Def {
	switch l.Algorithm {
	case FixedWindow:
		return table.Def{Kind: table.Window, Window: window.NewFixed(l.Events, l.Per), Shared: true}
	case SlidingWindow:
		return table.Def{Kind: table.Window, Window: window.NewSliding(l.Events, l.Per), Shared: true}
	case SlidingLog:
		return table.Def{Kind: table.Log, Log: window.NewLog(l.Events, l.Per), Shared: true}
	}
	return table.Def{Kind: table.Bucket, Bucket: bucket.New(l.Events, l.Per, l.Burst), Shared: true, Queue: l.Algorithm == LeakyBucket}
}

func (l Limit) bucket() bool  { return l.Algorithm <= LeakyBucket }
func (l Limit) windows() bool { return l.Algorithm == FixedWindow || l.Algorithm == SlidingWindow }
func (l Limit) log() bool     { return l.Algorithm == SlidingLog }

// most is the most events that one take can get.
func (l Limit) most() int64 {
	if l.bucket() {
		return l.Burst
	}
	return l.Events
}

// interval is T, in nanoseconds.
func (l Limit) interval() float64 { return float64(l.Per) / float64(l.Events) }

// rate is events in so many nanoseconds.
func (l Limit) rate(d int64) float64 { return float64(d) / l.interval() }

// cut is the start of the window that a moment of cluster time lies in.
func (l Limit) cut(wall int64) int64 { return floor(wall, l.Per) }

// floor is the last multiple of per that is not after at.
func floor(at, per int64) int64 {
	in := at % per
	if in < 0 {
		in += per
	}
	return at - in
}

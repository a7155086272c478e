package stint

import (
	"math"
	"time"
)

// Never is the RetryAfter of a take that no wait can help, because it asks for
// more events than the limit can ever hold at once. It is the longest Duration;
// compare with it rather than adding to it.
const Never = time.Duration(math.MaxInt64)

// Decision answers a take. The zero Decision is a refusal.
type Decision struct {
	// OK says whether the events may happen. If not, nothing was charged.
	OK bool
	// Limit is the name of the limit that decided, or its text if it has no
	// name.
	Limit string
	// Remaining is how many events could still be taken at once, as this
	// node sees it: never negative, never above the burst.
	Remaining int64
	// RetryAfter is zero if OK. On a refusal it is how long to wait until the
	// same take passes, if nobody else takes meanwhile: never zero, and Never
	// if waiting cannot help.
	RetryAfter time.Duration
	// ResetAfter is how long it takes until the whole budget is back, if
	// nobody takes meanwhile.
	ResetAfter time.Duration
	// Delay is how long to wait before acting on an admitted take. Only a
	// leaky bucket and a reservation set it.
	Delay time.Duration
	// Source says who decided.
	Source Source
}

// Source says from whose count a Decision was made.
type Source uint8

const (
	// SourceLocal is this node alone.
	SourceLocal Source = iota
	// SourceShared is this node, from its own count and what its peers have
	// told it.
	SourceShared
	// SourceStrict is the strict store, asked for this very take.
	SourceStrict
	// SourceFallback is this node in place of a strict store that did not
	// answer.
	SourceFallback
)

var sourceWords = []string{"local", "shared", "strict", "fallback"}

// String returns the word for s that the HTTP answers use: local, shared,
// strict or fallback.
func (s Source) String() string { return wordOf("source", sourceWords, s) }

// MarshalText returns the word that String does; it fails on a value without one.
func (s Source) MarshalText() ([]byte, error) { return marshalWord("source", sourceWords, s) }

// UnmarshalText accepts the words that String returns.
func (s *Source) UnmarshalText(text []byte) (err error) {
	*s, err = parseWord[Source]("source", sourceWords, string(text))
	return err
}

package stint

import (
	"errors"

	"github.com/stint-go/stint/internal/table"
)

// Errors that a caller may want to tell apart with errors.Is. A refused take is
// none of them: it is a Decision whose OK is false.
var (
	// ErrTooManyLimits is returned when a limit would be one more than
	// Config.MaxLimits. Limits are few and keys are many: what differs from
	// user to user belongs into the key.
	ErrTooManyLimits = table.ErrTooManyLimits

	// ErrClosed is returned by calls that need the node's goroutines or its
	// network after Close.
	ErrClosed = errors.New("the node is closed: open a new one")

	// ErrUnknownLimit is returned when a limit is asked for by a name that
	// nobody has defined.
	ErrUnknownLimit = errors.New("unknown limit: define it first, with SetLimit or --limit NAME=SPEC")

	// ErrNotSupported is returned for a limit that is well formed but needs
	// a mode that this version does not have: strict.
	ErrNotSupported = errors.New("not supported yet")
)

package stint

import (
	"errors"
	"fmt"
)

// faults gathers what is wrong with an input, so that all of it is reported at
// once.
type faults []error

func (f *faults) add(format string, args ...any) {
	*f = append(*f, fmt.Errorf(format, args...))
}

// err returns the faults as one error with a line for each, every line starting
// with the title, or nil if there are none.
func (f faults) err(title string) error {
	titled := make([]error, len(f))
	for i, fault := range f {
		titled[i] = fmt.Errorf("%s: %w", title, fault)
	}
	return errors.Join(titled...)
}

package stint

import (
	"fmt"
	"regexp"
	"sync"
	"time"
	_ "time/tzdata" // the zones, for machines that have none
)

// zoneName fits each name of the IANA time zone database. What else the same folder
// holds on many machines starts in lower case: their own localtime, the zones
// that count leap seconds.
var zoneName = regexp.MustCompile(`^[A-Z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`)

const useIANA = "use an IANA name such as Europe/Paris"

const (
	defaultZone = "UTC"
	maxZoneName = 64   // bytes
	maxZones    = 1024 // more than there are; file systems that ignore case have more spellings
)

// zones has what was loaded, so that equal names give equal pointers.
var zones = struct {
	mu     sync.Mutex
	byName map[string]*time.Location
}{byName: map[string]*time.Location{"": time.UTC, defaultZone: time.UTC}}

// zone is the time zone of an IANA name, UTC for the empty one: from the machine's own
// database if it has one, else from the one that is linked in. Its errors start
// with the name.
func zone(name string) (*time.Location, error) {
	zones.mu.Lock()
	loc := zones.byName[name]
	zones.mu.Unlock()
	if loc != nil {
		return loc, nil
	}
	if name == "Local" {
		return nil, fmt.Errorf("%s differs from node to node: %s", quote(name), useIANA)
	}
	if len(name) > maxZoneName || !zoneName.MatchString(name) {
		return nil, fmt.Errorf("%s is no time zone: %s", quote(name), useIANA)
	}
	loc, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("%s is unknown: %s", quote(name), useIANA)
	}
	return keepZone(loc)
}

// keepZone returns the first that was loaded of a name.
func keepZone(loc *time.Location) (*time.Location, error) {
	zones.mu.Lock()
	defer zones.mu.Unlock()
	name := loc.String()
	if kept := zones.byName[name]; kept != nil {
		return kept, nil
	}
	if len(zones.byName) >= maxZones {
		return nil, fmt.Errorf("%s is one time zone too many: use at most %d", quote(name), maxZones)
	}
	zones.byName[name] = loc
	return loc, nil
}

package stint

// Algorithm says how a limit counts. The zero value is TokenBucket.
type Algorithm uint8

const (
	// TokenBucket holds up to Burst events and regains Events of them in each
	// Per, evenly. Here it is the generic cell rate algorithm, which is the
	// same thing with one number of state (ITU-T I.371, annex A).
	TokenBucket Algorithm = iota
	// LeakyBucket is a queue of Burst places that empties at the limit's
	// rate: a decision says after which Delay its take may go.
	LeakyBucket
	// FixedWindow admits Events in each period, periods being cut from the
	// clock of the cluster, all alike or by a Calendar: so up to twice Events
	// around the end of one.
	FixedWindow
	// SlidingWindow admits Events in any period, as estimated from the counts
	// of the running window and the one before it. Just under twice Events if
	// a burst ends with a window and more is asked all through the next.
	SlidingWindow
	// SlidingLog admits Events in any period, whatever the traffic, from the
	// times of the events themselves.
	SlidingLog
	// Unmetered admits everything. It is the algorithm of Unlimited and says
	// so; no number in a Limit ever means "no limit".
	Unmetered
)

var algorithmWords = []string{
	"token-bucket", "leaky-bucket", "fixed-window", "sliding-window", "sliding-log", "unlimited",
}

// ParseAlgorithm is the inverse of Algorithm.String.
func ParseAlgorithm(text string) (Algorithm, error) {
	return parseWord[Algorithm]("algorithm", algorithmWords, text)
}

// String returns the word for a in a limit's text, such as sliding-window.
func (a Algorithm) String() string { return wordOf("algorithm", algorithmWords, a) }

// MarshalText returns the word that String does; it fails on a value without one.
func (a Algorithm) MarshalText() ([]byte, error) {
	return marshalWord("algorithm", algorithmWords, a)
}

// UnmarshalText accepts the words that String returns.
func (a *Algorithm) UnmarshalText(text []byte) (err error) {
	*a, err = ParseAlgorithm(string(text))
	return err
}

func (a Algorithm) known() bool { return int(a) < len(algorithmWords) }

// hasBurst reports whether Burst may differ from Events.
func (a Algorithm) hasBurst() bool { return a == TokenBucket || a == LeakyBucket }

// hasWindow reports whether events count for one Per and then not at all.
func (a Algorithm) hasWindow() bool {
	return a == FixedWindow || a == SlidingWindow || a == SlidingLog
}

// Mode says who decides on a limit. The zero value is Shared.
type Mode uint8

const (
	// Shared lets each node decide at once, from its own count and what its
	// peers have told it. All nodes together hold the limit, but for what is
	// still on its way between them.
	Shared Mode = iota
	// Local gives each node the whole limit; peers are told nothing.
	Local
	// Strict asks a store that all nodes share, on every take.
	Strict
)

var modeWords = []string{"shared", "local", "strict"}

// ParseMode is the inverse of Mode.String.
func ParseMode(text string) (Mode, error) { return parseWord[Mode]("mode", modeWords, text) }

// String returns the word for m in a limit's text, such as local.
func (m Mode) String() string { return wordOf("mode", modeWords, m) }

// MarshalText returns the word that String does; it fails on a value without one.
func (m Mode) MarshalText() ([]byte, error) { return marshalWord("mode", modeWords, m) }

// UnmarshalText accepts the words that String returns.
func (m *Mode) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMode(string(text))
	return err
}

func (m Mode) known() bool { return int(m) < len(modeWords) }

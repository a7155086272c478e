package stint

import (
	"fmt"
	"strings"
)

// The words of Algorithm, Mode and Source: a value is the index of its word.

func wordOf[E ~uint8](kind string, words []string, v E) string {
	if int(v) < len(words) {
		return words[v]
	}
	return fmt.Sprintf("%s(%d)", kind, uint8(v))
}

func marshalWord[E ~uint8](kind string, words []string, v E) ([]byte, error) {
	if int(v) >= len(words) {
		return nil, fmt.Errorf("%s %d does not exist: use one of %s", kind, uint8(v), strings.Join(words, ", "))
	}
	return []byte(words[v]), nil
}

func parseWord[E ~uint8](kind string, words []string, text string) (E, error) {
	for i, word := range words {
		if word == text {
			return E(i), nil
		}
	}
	return 0, fmt.Errorf("unknown %s %s: use one of %s", kind, quote(text), strings.Join(words, ", "))
}

// quote makes text of unknown origin fit for a message: quoted, on one line,
// and not long.
func quote(text string) string {
	const most = 80
	if len(text) > most {
		return fmt.Sprintf("%q (%d bytes)", strings.ToValidUTF8(text[:most], "")+"…", len(text))
	}
	return fmt.Sprintf("%q", text)
}

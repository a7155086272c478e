package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// The committed picture is the one that this code makes.
func TestPicture(t *testing.T) {
	want, err := os.ReadFile("../algorithms.svg")
	if err != nil {
		t.Fatal(err)
	}
	if got := draw(lanes()); !bytes.Equal(got, want) {
		t.Errorf("docs/algorithms.svg is not what it should be: go run ./docs/picture > docs/algorithms.svg")
	}
}

func TestPictureIsWellFormed(t *testing.T) {
	elements := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(draw(lanes()))); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
		}
	}
	if elements["svg"] != 1 || elements["path"] < 3*len(lanes()) {
		t.Errorf("got elements %v, want one svg and three paths a lane", elements)
	}
}

// What docs/algorithms.md says of the picture.
func TestLanes(t *testing.T) {
	tests := []struct {
		name           string
		minute, ten, n int
	}{
		{"token bucket", 39, 23, 67}, // 20 at once, then one in 3 s
		{"leaky bucket", 20, 4, 48},
		{"fixed window", 40, 40, 80}, // 20 before 1:00, 20 after it
		{"sliding window", 38, 21, 65},
		{"sliding log", 20, 20, 60},
	}
	all := lanes()
	if len(all) != len(tests) {
		t.Fatalf("got %d lanes, want %d", len(all), len(tests))
	}
	for i, tt := range tests {
		l := all[i]
		if l.name != tt.name || !slices.IsSorted(l.passed) {
			t.Errorf("%s: got %s, sorted %v", tt.name, l.name, slices.IsSorted(l.passed))
		}
		if m, ten, n := l.most(minute), l.most(10*second), len(l.passed); m != tt.minute || ten != tt.ten || n != tt.n {
			t.Errorf("%s: got %d in a minute, %d in 10 s, %d in all, want %d, %d, %d", tt.name, m, ten, n, tt.minute, tt.ten, tt.n)
		}
	}
}

func TestMost(t *testing.T) {
	l := lane{passed: []int64{0, 1, 10, 10, 19, 20}}
	for span, want := range map[int64]int{1: 2, 2: 2, 9: 2, 10: 3, 11: 4, 20: 5, 21: 6} {
		if got := l.most(span); got != want {
			t.Errorf("spans of %d: got %d, want %d", span, got, want)
		}
	}
}

func TestPixels(t *testing.T) {
	var got []string
	for _, at := range []int64{begin, begin + (end-begin)/span/4, end} {
		got = append(got, px(x(at)))
	}
	if want := "164 164.2 708"; strings.Join(got, " ") != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

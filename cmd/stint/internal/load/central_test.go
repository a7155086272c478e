package load

import (
	"testing"
	"time"

	"github.com/stint-go/stint"
)

// Ten takes at the end of one window and ten at the start of the next, of ten in each.
func TestCentral(t *testing.T) {
	midnight := time.Date(2026, 3, 28, 23, 0, 0, 0, time.UTC) // in Paris
	for _, tt := range []struct {
		text string
		want int64
	}{
		{"10/h", 10},
		{"10/h burst=15", 15},
		{"10/h algorithm=leaky-bucket", 10},
		{"10/h algorithm=fixed-window", 20},
		{"10/h algorithm=sliding-window", 10},
		{"10/h algorithm=sliding-log", 10},
		{"10/day calendar=day zone=Europe/Paris", 20},
		{"10/day calendar=day", 10},
		{"10/week calendar=week zone=Europe/Paris", 10},
	} {
		limit, err := stint.ParseLimit(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		rule, err := RuleOf(limit)
		if err != nil {
			t.Fatal(err)
		}
		var takes []Take
		for i := range 20 {
			at := midnight.Add(time.Duration(2*i-19) * time.Millisecond).UnixNano()
			takes = append(takes, Take{From: at, To: at, Outcome: Admitted})
		}
		if got := rule.central(takes); got != tt.want {
			t.Errorf("%s: %d admitted, want %d", tt.text, got, tt.want)
		}
		if r := Analyse(takes, rule, &News{Nodes: 1}, []string{"a"}); (r.Bound == nil) == rule.bucket() {
			t.Errorf("%s: bound %v", tt.text, r.Bound)
		}
	}
}

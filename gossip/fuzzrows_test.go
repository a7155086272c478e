package gossip

import (
	"math"
	"reflect"
	"testing"
)

// The body of a chunk never panics, holds no more than its bytes allow, and says the same
// when it is written again.
func FuzzRows(f *testing.F) {
	var holds []Held
	for _, r := range someRecords() {
		holds = append(holds, Held{*r, 3})
	}
	rows := []Row{
		{Limit: 1, Hash: 1, Shape: RowBucket, At: 5, Rem: 7},
		{Limit: 1, Hash: 2, Shape: RowWindow, At: -9},
		{Limit: 2, Hash: 3, Shape: RowLog, Moments: []Moment{{1, 2}, {math.MaxInt64, math.MinInt64}}},
		{Limit: 3, Hash: 4, Shape: RowUnknown, At: 60, Rem: 1},
	}
	f.Add(encodeRowBody(1000, []Definition{{1, "api", "10/s"}}, rows, holds), int64(1000))
	f.Add(encodeRowBody(math.MaxInt64, nil, rows[2:3], nil), int64(math.MaxInt64))
	f.Add([]byte{0x94, 0x90, 0x91, 0x95, 2, 1, 1, 0xc4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0xc4, 1, 0x7f, 0x90, 0xc4, 0}, int64(0))
	f.Fuzz(func(t *testing.T, data []byte, cut int64) {
		var got Chunk
		err := decodeRows(data, cut, &got)
		moments := 0
		for i := range got.Rows {
			moments += len(got.Rows[i].Moments)
		}
		if 9*len(got.Rows)+2*moments+4*len(got.Definitions)+15*len(got.Holds) > len(data) {
			t.Fatalf("got %d rows, %d moments, %d definitions and %d holds of %d bytes", len(got.Rows), moments, len(got.Definitions), len(got.Holds), len(data))
		}
		if err != nil {
			return
		}
		var again Chunk
		if err := decodeRows(encodeRowBody(cut, got.Definitions, got.Rows, got.Holds), cut, &again); err != nil || !reflect.DeepEqual(again.Rows, got.Rows) || len(again.Holds) != len(got.Holds) {
			t.Fatalf("got %+v, then %+v (%v)", got, again, err)
		}
	})
}

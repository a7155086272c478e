package gossip

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var uints = rapid.SliceOfN(rapid.Uint64(), 0, 5)

// joinMessages draws one frame of each kind that joining has.
var joinMessages = map[string]func(t *rapid.T) (want frame, data []byte){
	"holding": func(t *rapid.T) (frame, []byte) {
		m := holding{rapid.Uint64().Draw(t, "from"), rapid.Int64().Draw(t, "sent")}
		h := drawHeader(t, kindHolding)
		return frame{header: h, holding: &m, sent: m.Sent}, encodeFrame(h, &m)
	},
	"want": func(t *rapid.T) (frame, []byte) {
		m := want{rapid.Uint64().Draw(t, "ask"), rapid.IntRange(0, Chunks-1).Draw(t, "chunk"), small20.Draw(t, "have"), rapid.Bool().Draw(t, "again"), uints.Draw(t, "holders")}
		h := drawHeader(t, kindWant)
		return frame{header: h, want: &m}, encodeFrame(h, &m)
	},
	"chunk": func(t *rapid.T) (frame, []byte) {
		claims := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) claim {
			return claim{rapid.Uint64().Draw(t, "origin"), number{numberKnown, rapid.Uint64().Draw(t, "n")}, rapid.Int64().Draw(t, "silent")}
		}), 0, 4)
		parts, to := rapid.IntRange(1, 1<<20).Draw(t, "parts"), rapid.IntRange(1, Chunks).Draw(t, "to")
		m := chunk{rapid.Uint64().Draw(t, "ask"), rapid.IntRange(0, to-1).Draw(t, "from"), to, rapid.IntRange(0, parts-1).Draw(t, "part"), parts,
			rapid.Int64().Draw(t, "sent"), rapid.Int64().Draw(t, "cut"), claims.Draw(t, "claims"), rapid.Int64().Draw(t, "wall")}
		h, body := drawHeader(t, kindChunk), rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body")
		return frame{header: h, chunk: &m, body: body, sent: m.Sent}, encodeChunk(h, &m, body)
	},
	"refused": func(t *rapid.T) (frame, []byte) {
		m := refused{rapid.Uint64().Draw(t, "ask"), rapid.Bool().Draw(t, "joining"), uints.Draw(t, "missing"), rapid.Int64().Draw(t, "sent")}
		h := drawHeader(t, kindRefused)
		return frame{header: h, refused: &m, sent: m.Sent}, encodeFrame(h, &m)
	},
}

// encodeChunk is a whole CHUNK.
func encodeChunk(h header, m *chunk, body []byte) []byte {
	return slices.Concat(encodeCarrier(h, m, body), body)
}

// normalJoin is f with no difference between nil and empty.
func normalJoin(f frame) frame {
	switch {
	case f.want != nil:
		m := *f.want
		m.Holders = append([]uint64(nil), m.Holders...)
		f.want = &m
	case f.chunk != nil:
		m := *f.chunk
		m.Numbers = append([]claim(nil), m.Numbers...)
		f.chunk = &m
	case f.refused != nil:
		m := *f.refused
		m.Missing = append([]uint64(nil), m.Missing...)
		f.refused = &m
	}
	return f
}

// joinSamples are a sound frame of each kind of joining, and a body of rows.
func joinSamples() [][]byte {
	h := header{origin: 1, peer: 2, session: 1, nonce: 1 << 63}
	of := func(kind uint8) header { h := h; h.kind = kind; return h }
	body := rowBody()
	return [][]byte{
		encodeFrame(of(kindHolding), &holding{3, 5}),
		encodeFrame(of(kindWant), &want{1, 63, 2, true, []uint64{1, 1 << 63}}),
		encodeChunk(of(kindChunk), &chunk{1, 0, Chunks, 0, 1, 5, 4, []claim{{1, number{numberKnown, 3}, 0}, {9, number{numberKnown, 1}, 1 << 40}}, 7}, body),
		encodeFrame(of(kindRefused), &refused{1, true, []uint64{3}, 5}),
		body,
	}
}

// rowBody has all that a body of rows can have.
func rowBody() []byte {
	var holds []Held
	for i, r := range someRecords()[:2] {
		holds = append(holds, Held{*r, int64(i) - 1})
	}
	return encodeRows(4, []Definition{{1, "api", "10/s"}}, someRows(30), holds, 1<<20)[0]
}

// Every truncation of a frame is an error, wherever it ends; so is every one of a body.
func TestJoinFramesCutAnywhere(t *testing.T) {
	samples := joinSamples()
	for i, data := range samples {
		decode := func(data []byte) error { _, err := decodeFrame(data); return err }
		if i == len(samples)-1 {
			decode = func(data []byte) error { return decodeRows(data, 4, &Chunk{}) }
		}
		if err := decode(data); err != nil {
			t.Errorf("sample %d: %v", i, err)
		}
		for end := range data {
			if err := decode(data[:end]); err == nil {
				t.Errorf("sample %d: got no error of %d bytes of %d", i, end, len(data))
			}
		}
	}
}

// What a frame of joining claims and cannot be is refused.
func TestUnsoundJoinFrames(t *testing.T) {
	h := header{kindChunk, 1, 2, 1, 1}
	body := []byte{0x94, 0x90, 0x90, 0x90, 0xc4, 0}
	for name, m := range map[string]chunk{
		"no chunk":            {From: 3, To: 3, Parts: 1},
		"back":                {From: 3, To: 2, Parts: 1},
		"more than there are": {From: 3, To: Chunks + 1, Parts: 1},
		"no part":             {From: 3, To: 4},
		"a part beyond":       {From: 3, To: 4, Part: 1, Parts: 1},
	} {
		if _, err := decodeFrame(encodeChunk(h, &m, body)); err == nil {
			t.Errorf("CHUNK, %s: got no error", name)
		}
	}
	h.kind = kindWant
	if _, err := decodeFrame(encodeFrame(h, &want{Chunk: Chunks})); err == nil {
		t.Error("WANT of a chunk that is not: got no error")
	}
}

package gossip

// The frames of joining.

type holding struct {
	From uint64 // the log has all drains after it, each by itself
	Sent int64
}

type want struct {
	Ask     uint64 // grows with each chunk asked for
	Chunk   int
	Have    int      // parts of it that are here
	Again   bool     // more of them may be lost
	Holders []uint64 // who hold their logs
}

type chunk struct {
	Ask         uint64
	From, To    int // chunks From … To − 1
	Part, Parts int
	Sent, Cut   int64
	Numbers     []claim // in part 0: what is in it of each log
	Wall        int64   // cluster time at Cut
}

type refused struct {
	Ask     uint64
	Joining bool     // the donor has no counts itself
	Missing []uint64 // members who do not hold their logs yet
	Sent    int64
}

func (m *holding) encode(e *encoder) {
	e.fields(2)
	e.uint(m.From)
	e.int(m.Sent)
}

func (m *want) encode(e *encoder) {
	e.fields(5)
	e.uint(m.Ask, uint64(m.Chunk), uint64(m.Have))
	e.bool(m.Again)
	e.array(len(m.Holders))
	e.uint(m.Holders...)
}

func (m *chunk) encode(e *encoder) {
	e.fields(10)
	e.uint(m.Ask, uint64(m.From), uint64(m.To), uint64(m.Part), uint64(m.Parts))
	e.int(m.Sent)
	e.int(m.Cut)
	e.array(len(m.Numbers))
	for _, n := range m.Numbers {
		doubtful := n.Kind == numberDoubtful
		if doubtful {
			e.array(4)
		} else {
			e.array(3)
		}
		e.uint(n.origin, n.N)
		e.int(n.silent)
		if doubtful {
			e.bool(true)
		}
	}
	e.int(m.Wall)
}

func (m *refused) encode(e *encoder) {
	e.fields(4)
	e.uint(m.Ask)
	e.bool(m.Joining)
	e.array(len(m.Missing))
	e.uint(m.Missing...)
	e.int(m.Sent)
}

func (d *decoder) claims() []claim {
	n := d.array(4)
	if n > maxSources {
		d.fail("claims")
		return nil
	}
	claims := make([]claim, n)
	for i := range claims {
		fields := d.array(1)
		claims[i] = claim{d.uint(), number{numberKnown, d.uint()}, d.int()}
		if fields >= 4 && d.bool() {
			claims[i].Kind = numberDoubtful
		}
		d.skip(max(fields, 3) - max(min(fields, 4), 3))
	}
	return claims
}

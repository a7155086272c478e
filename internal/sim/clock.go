package sim

import "math/bits"

// Lengths of virtual time, in nanoseconds.
const (
	Microsecond = 1_000
	Millisecond = 1_000_000
	Second      = 1_000_000_000
)

// clock is one node's monotonic clock: it stood at offset when the virtual time was 0
// and gains ppb nanoseconds in each second.
type clock struct{ offset, ppb int64 }

func (c clock) read(virtual int64) int64 {
	return c.offset + virtual + virtual*c.ppb/Second // |virtual·ppb| < 2^63 for hours
}

// never is further away than any run lasts.
const never = int64(1) << 62

// when is the first virtual time at which the clock shows at least local.
func (c clock) when(local int64) int64 {
	if local <= c.offset {
		return 0
	}
	if local > never/2 {
		return never
	}
	hi, lo := bits.Mul64(uint64(local-c.offset), Second)
	v, _ := bits.Div64(hi, lo, uint64(Second+c.ppb))
	at := int64(v)
	for c.read(at) < local {
		at++
	}
	for at > 0 && c.read(at-1) >= local {
		at--
	}
	return at
}

package table

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// sipKey is a key of SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast
// short-input PRF", 2012, with the round counts of the reduced version that Rust and
// Python use), kept as the state it starts from.
type sipKey struct{ v0, v1, v2, v3 uint64 }

func newSIPKey(k0, k1 uint64) sipKey {
	return sipKey{
		k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
		k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573,
	}
}

// sum hashes a string of any length.
func (k *sipKey) sum(s string) uint64 {
	v0, v1, v2, v3 := k.v0, k.v1, k.v2, k.v3
	b := unsafe.Slice(unsafe.StringData(s), len(s)) // read only
	last := uint64(len(b))<<56 | tail(b)
	for ; len(b) >= 8; b = b[8:] {
		m := binary.LittleEndian.Uint64(b)
		v0, v1, v2, v3 = round(v0, v1, v2, v3^m)
		v0 ^= m
	}
	v0, v1, v2, v3 = round(v0, v1, v2, v3^last)
	v0, v1, v2, v3 = round(v0^last, v1, v2^0xff, v3)
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	v0, v1, v2, v3 = round(v0, v1, v2, v3)
	return v0 ^ v1 ^ v2 ^ v3
}

func round(v0, v1, v2, v3 uint64) (uint64, uint64, uint64, uint64) {
	v0 += v1
	v1 = bits.RotateLeft64(v1, 13) ^ v0
	v0 = bits.RotateLeft64(v0, 32)
	v2 += v3
	v3 = bits.RotateLeft64(v3, 16) ^ v2
	v0 += v3
	v3 = bits.RotateLeft64(v3, 21) ^ v0
	v2 += v1
	v1 = bits.RotateLeft64(v1, 17) ^ v2
	v2 = bits.RotateLeft64(v2, 32)
	return v0, v1, v2, v3
}

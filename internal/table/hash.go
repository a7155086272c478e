package table

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// hashKey is a key of SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast
// short-input PRF", 2012, with the round counts of the reduced version that Rust and
// Python use), kept as the state it starts from. docs/hash.md says why this function.
type hashKey struct{ v0, v1, v2, v3 uint64 }

func newHashKey(k0, k1 uint64) hashKey {
	return hashKey{
		k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d,
		k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573,
	}
}

// derive gives the limit with this id a key of its own, so that hashing a key costs
// its own bytes only, and the hash that its overflow entry goes by.
func derive(seed [16]byte, id uint64) (key hashKey, overflow uint64) {
	mac := hmac.New(sha256.New, seed[:])
	mac.Write([]byte("stint: keys of a limit"))
	mac.Write(binary.LittleEndian.AppendUint64(nil, id))
	sum := mac.Sum(nil)
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(sum[8*i:]) }
	return newHashKey(word(0), word(1)), word(2)
}

// sum hashes a string of any length.
func (k *hashKey) sum(s string) uint64 {
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

// tail is the bytes behind the last whole word of eight, as a little-endian number.
// It is read in few loads, which may overlap.
func tail(b []byte) uint64 {
	n := len(b)
	switch {
	case n >= 8:
		return binary.LittleEndian.Uint64(b[n-8:]) >> (64 - 8*uint(n%8))
	case n >= 4:
		lo, hi := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[n-4:])
		return uint64(lo) | uint64(hi)<<(8*uint(n-4))
	case n > 0:
		return uint64(b[0]) | uint64(b[n/2])<<(8*uint(n/2)) | uint64(b[n-1])<<(8*uint(n-1))
	}
	return 0
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

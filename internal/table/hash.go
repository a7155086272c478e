package table

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// shortKey is the most bytes of a key that the quick hash takes: 8 words, the last of
// which is short and carries the length.
const shortKey = 63

// hashKey is what the keys of one limit are hashed under: multipliers for short ones, a
// SipHash key for long ones. docs/hash.md says why these functions.
type hashKey struct {
	add  wide
	mul  [(shortKey + 1) / 8]wide
	long sipKey
}

// wide is a 128-bit number.
type wide struct{ hi, lo uint64 }

// derive gives the limit with this id a key of its own, so that hashing a key costs
// its own bytes only, and the hash that its overflow entry goes by.
func derive(seed [16]byte, id uint64) (key hashKey, overflow uint64) {
	var block [32]byte
	var blocks uint64
	next := func() uint64 {
		if blocks%4 == 0 {
			mac := hmac.New(sha256.New, seed[:])
			mac.Write([]byte("stint: keys of a limit"))
			mac.Write(binary.LittleEndian.AppendUint64(nil, id))
			mac.Write(binary.LittleEndian.AppendUint64(nil, blocks/4))
			mac.Sum(block[:0])
		}
		word := binary.LittleEndian.Uint64(block[blocks%4*8:])
		blocks++
		return word
	}
	key.add = wide{next(), next()}
	for i := range key.mul {
		key.mul[i] = wide{next(), next()}
	}
	key.long = newSIPKey(next(), next())
	return key, next()
}

// sum hashes a string of any length. A short one by vector multiply-shift, strongly
// universal (Dietzfelbinger 1996; Thorup, "High speed hashing for integers and
// strings", 2015): the high half of add + Σ mul·word, modulo 2^128. The last word is
// what is left of the string below its length.
func (k *hashKey) sum(s string) uint64 {
	if len(s) > shortKey {
		return k.long.sum(s)
	}
	b := unsafe.Slice(unsafe.StringData(s), len(s)) // read only
	last := uint64(len(b))<<56 | tail(b)
	hi, lo, i := k.add.hi, k.add.lo, 0
	for ; len(b) >= 8; b = b[8:] {
		hi, lo = k.mul[i&7].fold(hi, lo, binary.LittleEndian.Uint64(b))
		i++
	}
	hi, _ = k.mul[i&7].fold(hi, lo, last)
	return scatter(hi)
}

// fold is (hi, lo) + m·word, modulo 2^128.
func (m *wide) fold(hi, lo, word uint64) (uint64, uint64) {
	h, l := bits.Mul64(m.lo, word)
	lo, carry := bits.Add64(lo, l, 0)
	return hi + h + m.hi*word + carry, lo
}

// scatter is one to one: it keeps two strings apart as far as they were, and keeps
// those of a series from standing in a row.
func scatter(h uint64) uint64 {
	h ^= h >> 32
	h *= 0x9e3779b97f4a7c15
	return h ^ h>>32
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

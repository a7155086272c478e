package table

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strings"
	"testing"
)

// plainSIP is SipHash-c-d as the paper has it, word by word and with the whole message
// padded, to compare with.
func plainSIP(c, d int, k0, k1 uint64, msg []byte) uint64 {
	v := [4]uint64{k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573}
	rounds := func(n int) {
		for range n {
			v[0] += v[1]
			v[2] += v[3]
			v[1] = bits.RotateLeft64(v[1], 13) ^ v[0]
			v[3] = bits.RotateLeft64(v[3], 16) ^ v[2]
			v[0] = bits.RotateLeft64(v[0], 32)
			v[2] += v[1]
			v[0] += v[3]
			v[1] = bits.RotateLeft64(v[1], 17) ^ v[2]
			v[3] = bits.RotateLeft64(v[3], 21) ^ v[0]
			v[2] = bits.RotateLeft64(v[2], 32)
		}
	}
	padded := append([]byte{}, msg...)
	for len(padded)%8 != 7 {
		padded = append(padded, 0)
	}
	padded = append(padded, byte(len(msg)))
	for i := 0; i < len(padded); i += 8 {
		m := binary.LittleEndian.Uint64(padded[i:])
		v[3] ^= m
		rounds(c)
		v[0] ^= m
	}
	v[2] ^= 0xff
	rounds(d)
	return v[0] ^ v[1] ^ v[2] ^ v[3]
}

// The key and message of the test vector in appendix A of the SipHash paper.
const (
	paperK0 = 0x0706050403020100
	paperK1 = 0x0f0e0d0c0b0a0908
)

func paperMessage(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return string(b)
}

func TestPlainSIPIsThePapers(t *testing.T) {
	if got := plainSIP(2, 4, paperK0, paperK1, []byte(paperMessage(15))); got != 0xa129ca6149be45e5 {
		t.Errorf("SipHash-2-4 of the paper's message = %#x, want 0xa129ca6149be45e5", got)
	}
}

func TestLongHashIsSipHash13(t *testing.T) {
	key := newSIPKey(paperK0, paperK1)
	for n := range 300 {
		msg := paperMessage(n)
		if got, want := key.sum(msg), plainSIP(1, 3, paperK0, paperK1, []byte(msg)); got != want {
			t.Fatalf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
}

// TestShortHashIsMultiplyShift compares with the definition, in big numbers.
func TestShortHashIsMultiplyShift(t *testing.T) {
	key, _ := derive([16]byte{1, 2, 3}, 4)
	number := func(w wide) *big.Int {
		n := new(big.Int).SetUint64(w.hi)
		return n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(w.lo))
	}
	for n := range shortKey + 1 {
		msg := paperMessage(n)
		padded := append([]byte(msg), make([]byte, 7-n%8)...)
		padded = append(padded, byte(n))
		sum := number(key.add)
		for i := 0; i < len(padded); i += 8 {
			word := new(big.Int).SetUint64(binary.LittleEndian.Uint64(padded[i:]))
			sum.Add(sum, word.Mul(word, number(key.mul[i/8])))
		}
		sum.Rsh(sum, 64).And(sum, new(big.Int).SetUint64(math.MaxUint64))
		if got, want := key.sum(msg), scatter(sum.Uint64()); got != want {
			t.Fatalf("%d bytes: %#x, want %#x", n, got, want)
		}
	}
	if got, want := key.sum(paperMessage(shortKey+1)), key.long.sum(paperMessage(shortKey+1)); got != want {
		t.Errorf("a long key: %#x, want SipHash's %#x", got, want)
	}
}

// TestHashOfAnyKey is case 26: long, binary and empty keys are keys.
func TestHashOfAnyKey(t *testing.T) {
	tab := New(Config{})
	l := define(t, tab, "any", def(1, hour, 1))
	keys := []string{"", "a", "a\n", "\n", "{}", "{a}", "a\x00", "\x00", "\x00\x00", "ключ", strings.Repeat("x", 10_000), strings.Repeat("x", 10_001)}
	for i, k := range keys {
		if got := tab.Take(l, l.Hash(k), 0, 1); !got.OK {
			t.Errorf("key %d, the first take: %+v, want OK", i, got)
		}
	}
	for i, k := range keys {
		if got := tab.Take(l, l.Hash(k), 0, 1); got.OK {
			t.Errorf("key %d, the second take: %+v, want a refusal", i, got)
		}
	}
}

func TestHashDependsOnSeedAndLimit(t *testing.T) {
	hashes := map[uint64]string{}
	for _, seed := range [][16]byte{{}, {1}, {15: 1}} {
		tab := New(Config{Seed: seed})
		for _, name := range []string{"a", "b", ""} {
			l := define(t, tab, name, def(1, second, 1))
			for _, h := range []uint64{l.Hash("key"), l.Hash(""), l.overflow} {
				if was, ok := hashes[h]; ok {
					t.Errorf("seed %v limit %q: hash %#x again, before %s", seed, name, h, was)
				}
				hashes[h] = name
			}
		}
	}
	one, two := New(Config{Seed: [16]byte{7}}), New(Config{Seed: [16]byte{7}, MaxKeys: 10})
	a, b := define(t, one, "a", def(1, 1, 1)), learn(t, two, ID("a"), Def{})
	if a.Hash("k") != b.Hash("k") || a.overflow != b.overflow {
		t.Error("two nodes with the same seed hash a key differently")
	}
}

// TestHashFillsShardsAndGroupsEvenly guards the use of its bits: shard, home and tag.
func TestHashFillsShardsAndGroupsEvenly(t *testing.T) {
	tab := New(Config{})
	l := define(t, tab, "even", def(1, second, 1))
	const keys, cells = 400_000, 64
	var shards, homes, tags [cells]float64
	buf := []byte("user:        ")
	for i := range uint64(keys) {
		binary.LittleEndian.PutUint64(buf[5:], i)
		h := l.Hash(string(buf))
		shards[tab.place(h)%cells]++
		homes[home(h, cells)]++
		tags[tagOf(h)%cells]++
	}
	for name, counts := range map[string][cells]float64{"shards": shards, "homes": homes, "tags": tags} {
		chi := 0.0
		for _, n := range counts {
			chi += math.Pow(n-keys/cells, 2) / (keys / cells)
		}
		if chi > 130 { // 63 degrees of freedom: once in a million; the keys are fixed
			t.Errorf("%s: χ² = %.0f over %d cells", name, chi, cells)
		}
	}
}

func TestIDIsStable(t *testing.T) {
	if got, want := ID(""), uint64(0xe3b0c44298fc1c14); got != want {
		t.Errorf("ID of the empty name = %#x, want %#x: peers of another version know it by that", got, want)
	}
	if ID("a") == ID("b") {
		t.Error("a and b have the same ID")
	}
}

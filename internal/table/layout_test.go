package table

import (
	"reflect"
	"testing"
	"unsafe"
)

func TestEntryIsOneCacheLineWithoutPointers(t *testing.T) {
	if got := unsafe.Sizeof(entry{}); got != 64 {
		t.Errorf("an entry has %d bytes, want 64", got)
	}
	if got := unsafe.Sizeof(group{}); got != 16 {
		t.Errorf("a group has %d bytes, want 16", got)
	}
	for _, body := range []reflect.Type{
		reflect.TypeFor[bucketBody](), reflect.TypeFor[windowBody](), reflect.TypeFor[logBody](), reflect.TypeFor[unknownBody](),
	} {
		if got := body.Size(); got != 48 {
			t.Errorf("a %v has %d bytes, want 48", body, got)
		}
		holdsNoPointer(t, body)
	}
	holdsNoPointer(t, reflect.TypeFor[entry]())
	holdsNoPointer(t, reflect.TypeFor[group]())
}

func holdsNoPointer(t *testing.T, typ reflect.Type) {
	for i := range typ.NumField() {
		switch f := typ.Field(i); f.Type.Kind() {
		case reflect.Int64, reflect.Uint64, reflect.Uint32, reflect.Uint16, reflect.Uint8:
		case reflect.Array:
			if f.Type.Elem().Kind() != reflect.Uint64 && f.Type.Elem().Kind() != reflect.Int64 {
				t.Errorf("%v.%s is a %v", typ, f.Name, f.Type)
			}
		case reflect.Struct:
			holdsNoPointer(t, f.Type)
		default:
			t.Errorf("%v.%s is a %v: the collector may have to look at it", typ, f.Name, f.Type)
		}
	}
}

func TestShardsShareNoCacheLine(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Log("sizes are chosen for 64 bits")
		return
	}
	if got := unsafe.Sizeof(shard{}); got != 128 {
		t.Errorf("a shard has %d bytes, want 128", got)
	}
}

func TestSlotsAreAlignedToCacheLines(t *testing.T) {
	var h slots
	h.resize(0)
	for n := 1; n <= 600; n++ {
		size := sizeFor(n)
		if room := size * groupLoad; room < n {
			t.Fatalf("sizeFor(%d) = %d groups, room for %d", n, size, room)
		}
		if size*groupLoad == int(h.most) {
			continue
		}
		h.resize(size)
		if at := uintptr(unsafe.Pointer(&h.entries[0])); at%64 != 0 {
			t.Errorf("the entries of %d groups begin at %#x, not at a cache line", size, at)
		}
	}
}

func TestSizesAreSmallSteps(t *testing.T) {
	for n := 57; n < 100_000; n++ {
		if size := sizeFor(n); size*groupSlots*3 > n*5+48 {
			t.Fatalf("sizeFor(%d) = %d groups: too many", n, size)
		}
	}
	if got := sizeFor(0); got != 0 {
		t.Errorf("sizeFor(0) = %d, want 0", got)
	}
}

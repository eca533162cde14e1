package format

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/race"
)

// TestRepack: a file that is repacked is the one that is written in that mode.
func TestRepack(t *testing.T) {
	f := gridFile(t, 4, 60)
	for _, from := range allModes {
		r, err := NewBytesReader(mustEncode(t, f, from))
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range allModes {
			got, err := r.Repack(to)
			if from == ModeNone {
				if !errors.Is(err, ErrPlain) {
					t.Errorf("of a plain file: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, mustEncode(t, f, to)) {
				t.Errorf("%v as %v has other bytes than what is written so", from, to)
			}
		}
	}
}

// TestRepackKeeps: a later version's records, unknown chunks and a missing hash stay.
func TestRepackKeeps(t *testing.T) {
	plain := withVersion(t, 3, 100)
	r, err := NewBytesReader(plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Repack(ModeDelta); !errors.Is(err, ErrPlain) {
		t.Errorf("of a plain file: %v", err)
	}
	data, err := gridFile(t, 4, 60).Encode(WriteOptions{Compress: ModeLZ4, Version: 4, NoHash: true})
	if err != nil {
		t.Fatal(err)
	}
	if r, err = NewBytesReader(data); err != nil {
		t.Fatal(err)
	}
	got, err := r.Repack(ModeDelta)
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewBytesReader(got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Header(), again.Header()); d != "" {
		t.Errorf("the header is another one: %s", d)
	}
	if d := cmp.Diff(r.Materials(), again.Materials()); d != "" {
		t.Errorf("the materials are other ones: %s", d)
	}
	if rep := validateBytes(got, ValidateOptions{}); !rep.OK() {
		t.Errorf("%+v", rep.Findings)
	}
}

// TestRepackMemory: what repacking takes is known before, from the chunk table alone.
func TestRepackMemory(t *testing.T) {
	if race.Enabled {
		t.Skip("with the race detector pools drop what they are given; make test counts without it")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // each processor has a compressor of its own
	f := gridFile(t, 3, 200)
	decoded := int64(len(f.Vertices) + len(f.Indices))
	for _, from := range allModes {
		data := mustEncode(t, f, from)
		r, err := NewReader(newReaderAt(data), int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		said := r.RepackMemory()
		if from == ModeNone {
			if said != 0 {
				t.Errorf("of a plain file: %d", said)
			}
			continue
		}
		if said < 2*decoded || said > 5*decoded {
			t.Errorf("%d bytes are said to be in use, %d are decoded", said, decoded)
		}
		for _, to := range allModes {
			percent := debug.SetGCPercent(-1)       // a collection would take compressors from their pool
			if _, err := r.Repack(to); err != nil { // they have their own by now
				t.Fatal(err)
			}
			// Each of two chunks takes so much, one after the other, and what the first takes is
			// garbage by then.
			n := fuzzbound.Allocated(func() { _, _ = r.Repack(to) })
			if debug.SetGCPercent(percent); n > 2*uint64(said)+1<<20 {
				t.Errorf("%v as %v: %d bytes are allocated, %d are said to be in use", from, to, n, said)
			}
		}
	}
}

// TestRepackMemoryOfLies: a chunk that declares any size does not make the sum overflow.
func TestRepackMemoryOfLies(t *testing.T) {
	data := mustEncode(t, gridFile(t, 1, 20), ModeLZ4)
	r, err := NewBytesReader(data)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		r.p.chunks = append(r.p.chunks, Chunk{Type: ChunkIndices, Compression: CompressLZ4, UncompressedSize: math.MaxUint64})
		if n := r.RepackMemory(); n < 1<<50 {
			t.Errorf("%d bytes", n)
		}
	}
}

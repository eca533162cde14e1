package format

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func addSeeds(f *testing.F) {
	for _, mode := range allModes {
		f.Add(mustEncode(f, triangleFile(f), mode))
		f.Add(mustEncode(f, gridFile(f, 3, 9), mode))
	}
	f.Add(mustEncode(f, NewBuilder(FileHLOD).File(), ModeNone))
	vectors, _ := filepath.Glob(filepath.Join("..", "testdata", "vectors", "*.untold"))
	for _, v := range vectors {
		if b, err := os.ReadFile(v); err == nil {
			f.Add(b)
		}
	}
}

var fuzzLimits = Limits{MaxChunk: 4 << 20}

// FuzzReader reads everything a file offers. What the two kinds of source
// return must agree, and a file that reads back must survive being written.
func FuzzReader(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		a, errA := NewBytesReader(data, WithLimits(fuzzLimits))
		b, errB := NewReader(newReaderAt(data), int64(len(data)), WithLimits(fuzzLimits))
		if (errA == nil) != (errB == nil) || errA != nil && errA.Error() != errB.Error() {
			t.Fatalf("sources disagree: %v, %v", errA, errB)
		}
		if errA != nil {
			var e *Error
			if !errors.As(errA, &e) || e.Hint == "" {
				t.Fatalf("not an *Error with a hint: %v", errA)
			}
			return
		}
		_ = a.VerifyHash()
		ga, errA := a.ReadGeometry(Geometry{})
		gb, errB := b.ReadGeometry(Geometry{})
		if (errA == nil) != (errB == nil) {
			t.Fatalf("geometry disagrees: %v, %v", errA, errB)
		}
		for i := range a.Meshes() {
			va, e1 := a.MeshVertices(i, nil)
			vb, e2 := b.MeshVertices(i, nil)
			if (e1 == nil) != (e2 == nil) || !bytes.Equal(va, vb) {
				t.Fatalf("vertices of mesh %d disagree: %v, %v", i, e1, e2)
			}
			_, _ = a.MeshIndices(i, nil)
		}
		for _, e := range a.Entities() {
			a.String(e.NameOffset)
		}
		if errA != nil || !bytes.Equal(ga.Vertices, gb.Vertices) || !bytes.Equal(ga.Indices, gb.Indices) {
			if errA == nil {
				t.Fatal("geometry differs")
			}
			return
		}
		file, err := a.ToFile()
		if err != nil {
			return
		}
		again, err := file.Encode(WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewBytesReader(again, VerifyOnOpen()); err != nil && a.Header().FormatVersion == 1 {
			t.Fatalf("written again it does not read: %v", err)
		}
	})
}

// FuzzValidate must not panic, and must report an error for whatever a Reader
// refuses.
func FuzzValidate(f *testing.F) {
	addSeeds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		rep := validateBytes(data, ValidateOptions{Limits: fuzzLimits})
		other := Validate(newReaderAt(data), int64(len(data)), ValidateOptions{Limits: fuzzLimits})
		if rep.Errors != other.Errors || len(rep.Findings) != len(other.Findings) {
			t.Fatalf("sources disagree: %d and %d findings", len(rep.Findings), len(other.Findings))
		}
		s := &Salvaged{}
		s.p, s.report = examine(newReaderAt(data), nil, int64(len(data)), "", ValidateOptions{Limits: fuzzLimits})
		look(s)
		r, err := NewBytesReader(data, WithLimits(fuzzLimits))
		if err != nil && rep.OK() {
			t.Fatalf("the reader refuses what validates: %v", err)
		}
		if err == nil && rep.OK() {
			if _, err := r.ReadGeometry(Geometry{}); err != nil && !errors.Is(err, codeRangeOverlap) {
				t.Fatalf("geometry of a valid file does not read: %v", err)
			}
		}
	})
}

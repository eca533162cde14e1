package manifest

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/testfile"
)

// stopwatch adds up the time of several runs.
type stopwatch struct{ total time.Duration }

func (s *stopwatch) time(f func()) {
	start := time.Now()
	f()
	s.total += time.Since(start)
}

// Hashing payloads with all processors, against one.
func BenchmarkValidateFiles(b *testing.B) {
	dir := b.TempDir()
	data := bytes.Repeat([]byte("0123456789abcdef"), 1<<16) // 1 MiB
	m := clean()
	m.Tiles = nil
	for i := range 64 {
		e := clean().Tiles[0]
		e.ID, e.Path = fmt.Sprint("t", i), fmt.Sprintf("%d.untold", i)
		e.HLODLevels, e.LODLevels = nil, nil
		file := testfile.Write(b, filepath.Join(dir, e.Path), data)
		var err error
		if e.FileSizeBytes, e.SHA256, err = hashOf(file); err != nil {
			b.Fatal(err)
		}
		m.Tiles = append(m.Tiles, e)
	}
	check := func() {
		if found := Validate(m, dir, ValidateOptions{CheckFiles: true}); len(found) > 0 {
			b.Fatal(found)
		}
	}
	all := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(all)
	var one, many stopwatch
	b.SetBytes(int64(len(m.Tiles) * len(data)))
	for b.Loop() {
		runtime.GOMAXPROCS(1)
		one.time(check)
		runtime.GOMAXPROCS(all)
		many.time(check)
	}
	b.ReportMetric(one.total.Seconds()/many.total.Seconds(), "x-one-processor")
}

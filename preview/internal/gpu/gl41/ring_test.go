package gl41

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/preview/internal/gpu"
)

// TestRing: what is handed out overlaps nothing that is still in use, and all
// of it comes back.
func TestRing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := ring{size: ringAlign * rapid.IntRange(1, 20).Draw(t, "size")}
		type piece struct{ at, n int }
		var inUse [gpu.InFlight][]piece
		var now []piece
		for frame := range 30 {
			at := frame % gpu.InFlight
			r.passed(at)
			inUse[at] = nil
			for range rapid.IntRange(0, 4).Draw(t, "pieces") {
				n := rapid.IntRange(1, 5*ringAlign).Draw(t, "n")
				p, ok := r.take(n)
				if !ok {
					continue
				}
				if p < 0 || p+n > r.size || p%ringAlign != 0 {
					t.Fatalf("%d bytes at %d of %d", n, p, r.size)
				}
				now = append(now, piece{p, n})
				all := append([]piece(nil), now[:len(now)-1]...)
				for _, f := range inUse {
					all = append(all, f...)
				}
				for _, o := range all {
					if p < o.at+o.n && o.at < p+n {
						t.Fatalf("%d bytes at %d overlap %v", n, p, o)
					}
				}
			}
			r.submit(at)
			inUse[at], now = now, nil
		}
		for at := range gpu.InFlight {
			r.passed(at)
		}
		if r.used != 0 {
			t.Fatalf("%d bytes are lost", r.used)
		}
	})
}

//go:build cgo && !nopreview

package render

import "testing"

// TestProgramsAreShared: programs that passes share, as graphics processors have
// them, draw what those of single passes do.
func TestProgramsAreShared(t *testing.T) {
	both(t, Options{Width: 320, Height: 240, Samples: 4, ShadowSize: 1024}, func(t *testing.T, r *Renderer) {
		alone := r.programs
		shared, err := newPrograms(r.device, alone.defines, !alone.shared, true)
		if err != nil {
			t.Fatal(err)
		}
		defer shared.close()
		f := Frame{Camera: boardCamera(), Drawn: put(t, r, board(t, t.TempDir()))}
		for _, fade := range []float64{1, 0.5} {
			for i := range f.Drawn {
				f.Drawn[i].Fade = fade
			}
			r.programs = alone
			r.Draw(f)
			want := r.ReadPixels()
			r.programs = shared
			r.Draw(f)
			if d := difference(want, r.ReadPixels()); d > 0 {
				t.Errorf("fade %v: %.2f %% of the pixels differ", fade, 100*d)
			}
		}
		r.programs = alone
	})
}

package stats

import (
	"slices"
	"testing"
)

func TestPaces(t *testing.T) {
	times := make([]float32, 400)
	for i := range times {
		times[i] = 10 + float32(i)/20 // a view that fills
	}
	times[100], times[250], times[399] = 60, 49, 31
	got := paces(times)
	if n := hitches(got); n != 2 {
		t.Errorf("%d hitches, want 2", n)
	}
	if p := got[100]; p < 3.9 || p > 4.1 {
		t.Errorf("a frame of 60 ms among those of 15 ms has pace %v", p)
	}
	got[100], got[250] = 1, 1
	if most := slices.Max(got); most > 1.2 {
		t.Errorf("a slow change counts as %v", most)
	}
	if got := paces([]float32{0, 0, 0}); hitches(got) != 0 || len(paces(nil)) != 0 {
		t.Error("no time is a hitch")
	}
}

// TestWorst: the longest frames are kept, the longest first, of equal ones the
// earlier.
func TestWorst(t *testing.T) {
	var w worst
	for i := range 100 {
		w.add(&Frame{Frame: i, MS: float64(i * 37 % 50)})
	}
	if len(w.list) != worstFrames || w.list[0].MS != 49 {
		t.Fatalf("%+v", w.list)
	}
	for i := 1; i < len(w.list); i++ {
		a, b := w.list[i-1], w.list[i]
		if a.MS < b.MS || a.MS == b.MS && a.Frame > b.Frame {
			t.Errorf("%v before %v", &a, &b)
		}
	}
	f := Frame{Frame: 7, MS: 20, Shadow: 12, Scene: 5, Triangles: 9, ShadowTriangles: 80, UploadBytes: 3, GC: 1}
	if got, want := f.String(), "number 7, 20.0 ms, shadow 12.0, scene 5.0; 9 triangles, 80 in shadow maps, 3 bytes uploaded, garbage collected"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

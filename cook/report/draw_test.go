package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"image"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestRoundedPath: the outline of a distance runs at that distance from the
// box inside.
func TestRoundedPath(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.Float64Range(0, 500)
		box := rect{0, 0, side.Draw(t, "w"), side.Draw(t, "h")}
		d := rapid.Float64Range(0.1, 500).Draw(t, "distance")
		for _, q := range roundedPath(box.grow(d), d) {
			dx, dy := max(box.x0-q.x, 0, q.x-box.x1), max(box.y0-q.y, 0, q.y-box.y1)
			if got := math.Hypot(dx, dy); math.Abs(got-d) > d*0.0005 {
				t.Fatalf("%v is %v away, not %v", q, got, d)
			}
		}
	})
}

// TestDashes: the drawn share of a line is that of its pattern, also when the
// line is cut.
func TestDashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		length := rapid.Float64Range(500, 1e6).Draw(t, "length")
		s := stroker{width: 1, near: rect{100, -10, 500, 10}, dash: []float64{7, 3}, period: 10}
		s.segment(point{0, 0}, point{length, 0})
		sum := 0.0
		for _, q := range s.quads {
			sum += q[1].x - q[0].x
			if q[0].x < 99.999 || q[1].x > 500.001 {
				t.Fatalf("%v lies outside", q)
			}
		}
		if math.Abs(sum-280) > 0.01 {
			t.Fatalf("%v of 400 is drawn, not 280", sum)
		}
	})
}

func TestClipSegment(t *testing.T) {
	r := rect{0, 0, 10, 10}
	for _, c := range []struct {
		a          point
		dx, dy, l  float64
		start, end float64
	}{
		{point{-5, 5}, 1, 0, 20, 5, 15},
		{point{5, 5}, 1, 0, 2, 0, 2},
		{point{-5, 20}, 1, 0, 20, 0, 0},
		{point{5, -5}, 0, 1, 100, 5, 15},
	} {
		start, end := clipSegment(c.a, c.dx, c.dy, c.l, r)
		if start != c.start || end != c.end {
			t.Errorf("%+v: %v to %v", c, start, end)
		}
	}
	if start, end := clipSegment(point{20, 5}, 1, 0, 5, r); start < end {
		t.Errorf("behind the rectangle: %v to %v", start, end)
	}
}

// TestShapes draws one of everything and looks at pixels.
func TestShapes(t *testing.T) {
	red, blue := rgb(0xff0000), rgb(0x0000ff)
	d := newDrawing(100, 60, "shapes")
	d.rect(rect{10, 10, 30, 30}, style{fill: red, line: blue, width: 2})
	d.rounded(rect{40, 10, 60, 30}, 10, style{fill: red})
	d.clipTo(rect{70, 10, 80, 20})
	d.rect(rect{60, 0, 100, 60}, style{fill: blue})
	d.unclip()
	d.rect(rect{70, 30, 90, 50}, style{line: red, width: 2, dash: [4]float64{4, 4}})
	d.hatch(rect{10, 40, 30, 50}, 4, style{line: red, width: 1})
	d.hatch(rect{10, 40, 10, 50}, 4, style{line: red, width: 1})
	d.text(40, 50, label{text: "H", size: 20, bold: true, color: red, halo: blue})
	d.text(40, 50, label{})
	img := d.render()
	is := func(x, y int, p paint) bool {
		c := img.RGBAAt(x, y)
		return c.R == p.r && c.G == p.g && c.B == p.b
	}
	for _, c := range []struct {
		x, y int
		p    paint
	}{
		{10, 10, blue},
		{11, 20, blue},
		{12, 20, red},
		{20, 20, red},
		{29, 29, blue},
		{30, 20, paperColor},
		{40, 10, paperColor},
		{50, 20, red},
		{70, 10, blue},
		{79, 19, blue},
		{80, 15, paperColor},
		{69, 15, paperColor},
		{71, 30, red},
		{80, 40, paperColor},
	} {
		if !is(c.x, c.y, c.p) {
			t.Errorf("pixel %d, %d is %v, not %v", c.x, c.y, img.RGBAAt(c.x, c.y), c.p)
		}
	}
	count := func(r image.Rectangle) (n int) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			for x := r.Min.X; x < r.Max.X; x++ {
				if !is(x, y, paperColor) {
					n++
				}
			}
		}
		return n
	}
	if n := count(image.Rect(10, 40, 30, 50)); n < 50 || n > 190 {
		t.Errorf("the hatch covers %d of 200 pixels", n)
	}
	if n := count(image.Rect(38, 34, 60, 52)); n < 80 {
		t.Errorf("the letter covers %d pixels", n)
	}
	var b bytes.Buffer
	if err := d.writeSVG(&b); err != nil {
		t.Fatal(err)
	}
	wellFormed(t, b.Bytes(), true)
}

// TestPixelsAreGolden holds the software drawing to the same pixels on every
// machine.
func TestPixelsAreGolden(t *testing.T) {
	p, err := NewMap(floorManifest(), MapOptions{Size: 800, Tile: "F01_Q_0_SI"})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(p.draw().render().Pix)
	const want = "bd57222c47c26eebba2b8fe9434244e5d76fd2d2656d2a1c8a5c5afdcfb8cfa8"
	if got := hex.EncodeToString(sum[:]); got != want {
		t.Errorf("the pixels hash to %s, not %s; look at the map before changing this", got, want)
	}
}

func TestClean(t *testing.T) {
	long := strings.Repeat("n", 3*maxText)
	for _, c := range []struct{ in, want string }{
		{"Wall_1", "Wall_1"},
		{"Küche 東", "Küche 東"},
		{"a\nb\x00c\x7f", "a\ufffdb\ufffdc\ufffd"},
		{"\u202eexe.glb\u2066", "\ufffdexe.glb\ufffd"},
		{"\xff\xfe", "\ufffd\ufffd"},
		{"\ufffe\uffff", "\ufffd\ufffd"},
		{long, long[:maxText] + "..."},
	} {
		if got := clean(c.in); got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q: %q, not %q", c.in, got, c.want)
		}
	}
}

func TestTypesetter(t *testing.T) {
	set := newTypesetter()
	if w := set.width("HHHH", 10, false); w < 20 || w > 40 {
		t.Errorf("four letters of 10 pixels are %v wide", w)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringN(0, 60, -1).Draw(t, "text")
		width := rapid.Float64Range(0, 300).Draw(t, "width")
		if short := set.fit(s, width, 12, true); set.room(short, 12, true) > max(width, 0) {
			t.Fatalf("%q is wider than %v", short, width)
		}
		for _, line := range set.wrap(s, width, 12, false) {
			if set.room(line, 12, false) > width {
				t.Fatalf("line %q is wider than %v", line, width)
			}
		}
	})
	if got := set.fit("a very long name of a tile", 80, 12, false); !strings.Contains(got, "...") {
		t.Errorf("%q", got)
	}
	if got := strings.Join(set.wrap("one two three", 45, 12, false), "|"); got != "one|two|three" && got != "one two|three" {
		t.Errorf("%q", got)
	}
}

package astc

import (
	"math/rand/v2"
	"testing"
)

// picture returns w x h texels of one of several kinds: noise, gradients,
// edges, grey, with and without alpha.
func pictureOf(kind, w, h int, seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, uint64(kind)))
	pix := make([]byte, 4*w*h)
	for i := range w * h {
		x, y := i%w, i/w
		p := pix[4*i:][:4]
		switch kind % 6 {
		case 0:
			for c := range p {
				p[c] = byte(r.UintN(256))
			}
		case 1:
			p[0], p[1], p[2], p[3] = byte(3*x), byte(2*y+x), byte(255-3*x), 255
		case 2:
			p[0], p[1], p[2], p[3] = 200, 40, 10, 255
			if x+y/2 > w/2 {
				p[0], p[1], p[2] = byte(20+r.UintN(9)), 80, 240
			}
		case 3:
			v := byte(8*y + int(r.UintN(6)))
			p[0], p[1], p[2], p[3] = v, v, v, byte(5*x)
		case 4:
			p[0], p[1], p[2], p[3] = byte(90+r.UintN(9)), byte(60+r.UintN(30)), byte(x*4), byte(128+r.UintN(99))
		case 5:
			v := byte(40 + x)
			p[0], p[1], p[2], p[3] = v, v, v, 255
		}
	}
	return pix
}

// errorBetween is the sum of squared differences.
func errorBetween(a, b []byte) (sum int64) {
	for i := range a {
		d := int64(a[i]) - int64(b[i])
		sum += d * d
	}
	return sum
}

// TestEncodeDecode: what the encoder says about its error is what the decoder
// shows, and the blocks are valid ones.
func TestEncodeDecode(t *testing.T) {
	for _, f := range Footprints {
		if !f.Encodes() {
			continue
		}
		for kind := range 6 {
			for _, o := range []Options{{}, {SRGB: true}, {Quality: High}} {
				w, h := 3*f.Width+1, 2*f.Height+3
				pix := pictureOf(kind, w, h, 5)
				out := make([]byte, f.Size(w, h))
				said, err := Encode(out, f, o, pix, 4*w, w, h)
				if err != nil {
					t.Fatal(err)
				}
				got, err := Decode(f, o.SRGB, out, w, h)
				if err != nil {
					t.Fatal(err)
				}
				if is := errorBetween(pix, got); is != said {
					t.Errorf("%v, kind %d, %+v: error %d, decoded %d", f, kind, o, said, is)
				}
				t.Logf("%v kind %d %+v: %.2f", f, kind, o, float64(said)/float64(w*h))
			}
		}
	}
}

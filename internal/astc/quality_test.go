package astc

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	_ "image/jpeg" // the textures
	_ "image/png"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// shared holds the textures that quality is measured on.
const shared = "../../../shared/assets"

// measured are 30 textures: colours, normal maps, and data.
var measured = []string{
	"models/FlightHelmet/FlightHelmet_Materials_*Mat_*.png",
	"models/dutch_ship_medium_1k/textures/*.jpg",
	"models/plastic_monobloc_chair_01_1k/textures/*.jpg",
	"models/PalmTree/StylizedWater.png",
	"models/AnisotropyBarnLamp/AnisotropyBarnLamp_basecolor.jpeg",
	"kits/kaykit-city/citybits_texture.png",
	"kits/kenney-city/Textures/colormap.png",
}

// sample is a texture as it is encoded.
type sample struct {
	name string
	kind string // color, normal or data
	sRGB bool
	img  *image.NRGBA
}

// samples loads the textures; normal maps become X in the colours and Y in
// alpha.
func samples(t testing.TB) []sample {
	var out []sample
	for _, pattern := range measured {
		paths, err := filepath.Glob(filepath.Join(shared, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			src, _, err := image.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatal(err)
			}
			b := src.Bounds()
			if b.Dx() < 64 {
				continue
			}
			if n, err := strconv.Atoi(os.Getenv("ASTC_CROP")); err == nil {
				mid := b.Min.Add(b.Max).Div(2)
				b = image.Rect(mid.X-n/2, mid.Y-n/2, mid.X+n/2, mid.Y+n/2).Intersect(b)
			}
			s := sample{name: filepath.Base(path), kind: "data", img: image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))}
			draw.Draw(s.img, s.img.Rect, src, b.Min, draw.Src)
			switch low := strings.ToLower(s.name); {
			case strings.Contains(low, "_nor"):
				s.kind = "normal"
				p := s.img.Pix
				for i := 0; i < len(p); i += 4 {
					p[i+1], p[i+2], p[i+3] = p[i], p[i], p[i+1]
				}
			case !strings.Contains(low, "_arm") && !strings.Contains(low, "roughmetal"):
				s.kind, s.sRGB = "color", true
			}
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		t.Skip("the shared textures are not here")
	}
	return out
}

// psnr is the ratio in decibels over the channels that the image uses.
func psnr(s *sample, got []byte) float64 {
	channels := 4
	if s.img.Opaque() {
		channels = 3
	}
	sum, n := 0., 0
	for i := range got {
		if i&3 < channels {
			d := float64(got[i]) - float64(s.img.Pix[i])
			sum += d * d
			n++
		}
	}
	return 10 * math.Log10(255*255/max(sum/float64(n), 1e-4))
}

// TestPeerQuality prints how near the encoder comes to astcenc; see
// docs/textures.md. ASTC_QUALITY selects, such as 4x4:fast or 6x6:high.
func TestPeerQuality(t *testing.T) {
	what := os.Getenv("ASTC_QUALITY")
	if what == "" {
		t.Skip("set ASTC_QUALITY, such as 4x4:fast")
	}
	peer(t)
	var f Footprint
	var name string
	if _, err := fmt.Sscanf(what, "%dx%d:%s", &f.Width, &f.Height, &name); err != nil {
		t.Fatal(err)
	}
	q, preset := Fast, "-fast"
	if name == "high" {
		q, preset = High, "-medium"
	}
	type total struct {
		n          int
		sum, least float64
	}
	totals := map[string]*total{"color": {least: 99}, "normal": {least: 99}, "data": {least: 99}, "all": {least: 99}}
	var pixels float64
	var took time.Duration
	for _, s := range samples(t) {
		w, h := s.img.Rect.Dx(), s.img.Rect.Dy()
		out := make([]byte, f.Size(w, h))
		start := processorTime(t)
		if _, err := Encode(out, f, Options{SRGB: s.sRGB, Quality: q}, s.img.Pix, s.img.Stride, w, h); err != nil {
			t.Fatal(err)
		}
		spent := processorTime(t) - start
		took += spent
		pixels += float64(w*h) / 1e6
		ours, err := Decode(f, s.sRGB, out, w, h)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := Decode(f, s.sRGB, peerEncodeOnce(t, f, s, preset), w, h)
		if err != nil {
			t.Fatal(err)
		}
		a, b := psnr(&s, ours), psnr(&s, theirs)
		fmt.Printf("%-62s %-6s %6.2f %6.2f %+.2f  %.2f Mpix/s\n", s.name, s.kind, a, b, a-b, float64(w*h)/1e6/spent.Seconds())
		for _, k := range []string{s.kind, "all"} {
			x := totals[k]
			x.n++
			x.sum += a - b
			x.least = min(x.least, a-b)
		}
	}
	for _, k := range []string{"color", "normal", "data", "all"} {
		x := totals[k]
		fmt.Printf("%-6s %2d  mean %+.2f dB  least %+.2f dB\n", k, x.n, x.sum/float64(x.n), x.least)
	}
	fmt.Printf("%v %s: %.2f Mpix/s\n", f, name, pixels/took.Seconds())
}

// processorTime is what the test has used, so that others at work do not count.
func processorTime(t testing.TB) time.Duration {
	data, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skip("processor time is read on Linux only")
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// peerEncodeOnce keeps what astcenc made in the folder ASTC_CACHE.
func peerEncodeOnce(t testing.TB, f Footprint, s sample, preset string) []byte {
	dir := os.Getenv("ASTC_CACHE")
	if dir == "" {
		return peerEncode(t, f, s.sRGB, s.img, preset)
	}
	path := filepath.Join(dir, fmt.Sprintf("%s_%d_%v%s.astc", s.name, s.img.Rect.Dx(), f, preset))
	if data, err := os.ReadFile(path); err == nil {
		return data
	}
	data := peerEncode(t, f, s.sRGB, s.img, preset)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return data
}

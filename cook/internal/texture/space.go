package texture

import (
	"image"
	"math"
)

// space converts between 8-bit pixels and the numbers in which a role is
// filtered:
//
//   - colours without alpha: linear light 0 to 1, and 1;
//   - colours with alpha: linear light times alpha, and alpha, so that hidden
//     colours do not bleed into visible ones (Porter and Duff, "Compositing
//     digital images", 1984). A hair of every colour is kept, so that areas that
//     are all transparent have their mean colour;
//   - data: 0 to 1;
//   - normals: directions, -1 to 1. Means of directions are shorter than 1; they
//     keep their length down the chain and are normalised when stored.
type space struct {
	role Role
}

// hair is the part of a transparent pixel's colour that counts: too little to
// be seen beside the faintest visible one.
const hair = 1.0 / (1 << 17)

// lanczos reports whether the role is filtered by the sharper kernel. Its
// negative lobes would ring around cut-outs, steps in data, tilted normals and pieces of atlases.
func (s space) lanczos() bool {
	return s.role.Use == Color && s.role.Alpha == AlphaIgnored && !s.role.Atlas
}

// image8 reads an 8-bit image in a space.
type image8 struct {
	img *image.NRGBA
	space
}

func (s *image8) size() (w, h int) { return s.img.Rect.Dx(), s.img.Rect.Dy() }

func (s *image8) row(y int, dst []float32) []float32 {
	w := s.img.Rect.Dx()
	s.load(s.img.Pix[y*s.img.Stride:][:4*w], dst[:4*w])
	return dst[:4*w]
}

// load converts a line of pixels.
func (s space) load(pix []byte, dst []float32) {
	for i := 0; i+4 <= len(pix); i += 4 {
		p, d := pix[i:i+4:i+4], dst[i:i+4:i+4]
		switch {
		case s.role.Use == Color && s.role.Alpha == AlphaIgnored:
			d[0], d[1], d[2], d[3] = light[p[0]], light[p[1]], light[p[2]], 1
		case s.role.Use == Color:
			a := part[p[3]]
			k := a + hair
			d[0], d[1], d[2], d[3] = float32(light[p[0]]*k), float32(light[p[1]]*k), float32(light[p[2]]*k), a
		case s.role.Use == Normal:
			d[0], d[1], d[2], d[3] = direction[p[0]], direction[p[1]], direction[p[2]], 1
		default:
			d[0], d[1], d[2], d[3] = part[p[0]], part[p[1]], part[p[2]], 1
		}
	}
}

// store converts a line back; alpha is multiplied by scale.
func (s space) store(line []float32, scale float32, dst []byte) {
	for i := 0; i+4 <= len(line); i += 4 {
		c, p := line[i:i+4:i+4], dst[i:i+4:i+4]
		p[3] = 255
		switch {
		case s.role.Use == Color && s.role.Alpha == AlphaIgnored:
			p[0], p[1], p[2] = toByteSRGB(c[0]), toByteSRGB(c[1]), toByteSRGB(c[2])
		case s.role.Use == Color:
			k := 1 / (c[3] + hair)
			p[0], p[1], p[2] = toByteSRGB(float32(c[0]*k)), toByteSRGB(float32(c[1]*k)), toByteSRGB(float32(c[2]*k))
			p[3] = toByte(float32(c[3] * scale))
		case s.role.Use == Normal:
			p[0], p[1], p[2] = packNormal(c[0], c[1], c[2])
		default:
			p[0], p[1], p[2] = toByte(c[0]), toByte(c[1]), toByte(c[2])
		}
	}
}

// packNormal normalises a direction and rounds it to bytes. Normals of a
// surface point out of it, because BC5 has room for two components only.
func packNormal(x, y, z float32) (r, g, b byte) {
	z = max(z, 0)
	l := float32(math.Sqrt(float64(x*x) + float64(y*y) + float64(z*z)))
	if l < 1e-3 { // opposite directions have cancelled out
		return 128, 128, 255
	}
	pack := func(v float32) byte { return byte(float32((v/l+1)*127.5) + 0.5) }
	return pack(x), pack(y), pack(z)
}

func toByte(v float32) byte { return byte(float32(min(max(v, 0), 1)*255) + 0.5) }

// Tables by byte.
var (
	light     = lightTable()
	part      = partTable()
	direction = directionTable()
)

func lightTable() (t [256]float32) {
	for i := range t {
		t[i] = float32(decodeSRGB(float64(i) / 255))
	}
	return t
}

func partTable() (t [256]float32) {
	for i := range t {
		t[i] = float32(i) / 255
	}
	return t
}

func directionTable() (t [256]float32) {
	for i := range t {
		t[i] = float32(2*i-255) / 255
	}
	return t
}

// The inverse of light: a byte's range of linear light ends at bound[v], and
// near holds a byte at or just below the right one.
var (
	bound = boundTable()
	near  = nearTable()
)

const nearSteps = 4096

func boundTable() (t [255]float32) {
	for i := range t {
		t[i] = float32(decodeSRGB((float64(i) + 0.5) / 255))
	}
	return t
}

func nearTable() (t [nearSteps + 1]uint8) {
	v := 0
	for i := range t {
		for v < 255 && float32(i)/nearSteps >= bound[v] {
			v++
		}
		t[i] = uint8(v)
	}
	return t
}

// toByteSRGB returns the sRGB byte nearest to linear light.
func toByteSRGB(v float32) byte {
	v = min(max(v, 0), 1)
	b := near[int(v*nearSteps)]
	for b < 255 && v >= bound[b] {
		b++
	}
	return b
}

package cook

import (
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
)

// openFile reads a container back.
func openFile(t testing.TB, path string) (*format.Reader, *format.File) {
	t.Helper()
	r, err := format.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	f, err := r.ToFile()
	if err != nil {
		t.Fatal(err)
	}
	return r, f
}

// picture draws the front of a container, seen along -Z, the box lo to hi in x
// and y, as the reference engine would: v is flipped back, textures repeat.
// Only meshes for which pick returns true are drawn, later ones in front where
// z is larger.
func picture(t testing.TB, path string, lo, hi [2]float64, size int, pick func(name string) bool) *image.NRGBA {
	t.Helper()
	r, f := openFile(t, path)
	img := image.NewNRGBA(image.Rect(0, 0, size, size))
	depth := make([]float64, size*size)
	for i := range depth {
		depth[i] = math.Inf(-1)
	}
	for i := range f.Meshes {
		m := &f.Meshes[i]
		if !pick(r.String(f.Entities[m.EntityID].NameOffset)) {
			continue
		}
		mat := &f.Materials[m.Material]
		var tex image.Image
		if mat.BaseColorTexture != records.NoIndex {
			uri := r.String(f.Textures[mat.BaseColorTexture].URIOffset)
			tex = readImage(t, filepath.Join(filepath.Dir(path), filepath.FromSlash(uri)))
		}
		idx := vertex.Indices(f.Indices[m.IndexOffset:][:m.IndexSize], m.IndexType)
		var tri [3]vertex.Vertex
		for k, v := range idx {
			tri[k%3] = vertex.Get(f.Vertices[m.VertexOffset+uint64(v)*vertex.Size:])
			if k%3 == 2 {
				fill(img, depth, lo, hi, &tri, mat.BaseColor, tex)
			}
		}
	}
	return img
}

func readImage(t testing.TB, path string) image.Image {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	img, _, err := image.Decode(file)
	if err != nil {
		t.Fatal(path, err)
	}
	return img
}

// fill draws one triangle, front faces only.
func fill(img *image.NRGBA, depth []float64, lo, hi [2]float64, tri *[3]vertex.Vertex, factor [4]float32, tex image.Image) {
	size := img.Rect.Dx()
	var x, y, z, u, v [3]float64
	for k := range tri {
		x[k], y[k], z[k] = float64(tri[k].Position[0]), float64(tri[k].Position[1]), float64(tri[k].Position[2])
		u[k], v[k] = float64(vertex.FromHalf(tri[k].UV0[0])), 1-float64(vertex.FromHalf(tri[k].UV0[1]))
	}
	area := (x[1]-x[0])*(y[2]-y[0]) - (x[2]-x[0])*(y[1]-y[0])
	if area <= 0 {
		return
	}
	for py := range size {
		for px := range size {
			wx := lo[0] + (hi[0]-lo[0])*(float64(px)+0.5)/float64(size)
			wy := hi[1] - (hi[1]-lo[1])*(float64(py)+0.5)/float64(size)
			a := ((x[1]-wx)*(y[2]-wy) - (x[2]-wx)*(y[1]-wy)) / area
			b := ((x[2]-wx)*(y[0]-wy) - (x[0]-wx)*(y[2]-wy)) / area
			c := 1 - a - b
			if a < 0 || b < 0 || c < 0 {
				continue
			}
			d := a*z[0] + b*z[1] + c*z[2]
			if d < depth[py*size+px] {
				continue
			}
			depth[py*size+px] = d
			col := color.NRGBA{uint8(factor[0] * 255), uint8(factor[1] * 255), uint8(factor[2] * 255), 255}
			if tex != nil {
				s, r := a*u[0]+b*u[1]+c*u[2], a*v[0]+b*v[1]+c*v[2]
				w, h := tex.Bounds().Dx(), tex.Bounds().Dy()
				col = color.NRGBAModel.Convert(tex.At(
					tex.Bounds().Min.X+min(w-1, int((s-math.Floor(s))*float64(w))),
					tex.Bounds().Min.Y+min(h-1, int((r-math.Floor(r))*float64(h))))).(color.NRGBA)
				col.A = 255
			}
			img.SetNRGBA(px, py, col)
		}
	}
}

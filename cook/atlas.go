package cook

import (
	"cmp"
	"errors"
	"image"
	"image/color"
	"io"
	"math"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/forest"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/mesh"
)

// Limits of an atlas. A texture that repeats more often across a material's
// triangles than atlasRepeats times along an axis becomes its mean colour: far
// away that is what it looks like.
const (
	atlasRepeats = 8
	atlasPadding = 2 // texels around each area, against bleeding
	atlasLeast   = 4 // texels along an area's side
)

// atlasMaterial is a material of one container alone.
type atlasMaterial struct {
	material gltfscene.Material
	staged   []texture.Staged
	file     texture.Cooked
	written  fileRecord
}

// atlasArea is the part of an atlas that shows one drawable's material.
type atlasArea struct {
	d      *drawable
	shape  *mesh.Mesh
	image  *image.NRGBA // nil: one colour
	lo, hi [2]float64   // the texture coordinates in use
	ground float64      // square metres
	at     image.Rectangle
}

// bakeAtlas joins all opaque and masked parts of an HLOD into one drawable
// whose texture holds their base colours, so that it is one draw. Blended
// parts stay as they are. It writes the texture beside the tiles.
func (c *scenePlan) bakeAtlas(b *tileBuilder, tile string, parts []drawable, shapes []*mesh.Mesh) ([]drawable, []*mesh.Mesh, error) {
	var areas []*atlasArea
	var keep []drawable
	var kept []*mesh.Mesh
	for i := range parts {
		m := &b.materials[parts[i].material]
		if shapes[i] == nil {
			continue
		}
		if m.AlphaMode == gltfscene.AlphaBlend {
			keep, kept = append(keep, parts[i]), append(kept, shapes[i])
			continue
		}
		a := &atlasArea{d: &parts[i], shape: shapes[i], ground: surface(shapes[i])}
		if err := a.findImage(b, m); err != nil {
			return nil, nil, err
		}
		areas = append(areas, a)
	}
	if len(areas) == 0 {
		return keep, kept, nil
	}
	img := layoutAtlas(areas, c.opts.HLODMaxTexture)
	joint := &mesh.Mesh{}
	for _, a := range areas {
		a.draw(img, &b.materials[a.d.material])
		a.join(joint, img.Rect.Dx(), img.Rect.Dy())
	}
	own, err := c.atlasMaterial(b, tile, areas, img)
	if err != nil {
		return nil, nil, err
	}
	d := *areas[0].d
	d.name, d.meshName, d.identity, d.atlas = tile+smallSuffix, tile+smallSuffix, true, own
	return append([]drawable{d}, keep...), append([]*mesh.Mesh{joint}, kept...), nil
}

// findImage looks up what an area shows.
func (a *atlasArea) findImage(b *tileBuilder, m *gltfscene.Material) error {
	t := &m.BaseColorTex
	if t.Image < 0 || b.shrunk[t.Image].File == "" || a.shape.UV[0] == nil {
		return nil
	}
	img, err := b.smallImage(t.Image)
	if err != nil {
		return err
	}
	a.shape.UV[0] = foldIslands(a.shape)
	a.lo, a.hi = [2]float64{math.Inf(1), math.Inf(1)}, [2]float64{math.Inf(-1), math.Inf(-1)}
	for _, v := range a.shape.Indices {
		for k, x := range a.shape.UV[0][v] {
			a.lo[k], a.hi[k] = min(a.lo[k], float64(x)), max(a.hi[k], float64(x))
		}
	}
	for k := range 2 {
		if !(a.hi[k]-a.lo[k] <= atlasRepeats) {
			a.image = texture.Resize(img, 1, 1, texture.Color)
			return nil
		}
	}
	a.image = img
	return nil
}

// foldIslands moves connected triangles by whole repeats of the texture, so that
// what shares a texture shares its place in the atlas.
func foldIslands(m *mesh.Mesh) [][2]float32 {
	islands := forest.New(len(m.Positions))
	for i := 0; i+2 < len(m.Indices); i += 3 {
		for k := 1; k < 3; k++ {
			islands.Unite(int32(m.Indices[i]), int32(m.Indices[i+k]))
		}
	}
	out := slices.Clone(m.UV[0])
	least := slices.Clone(m.UV[0])
	for i := range out {
		r := islands.Root(int32(i))
		for k := range 2 {
			least[r][k] = min(least[r][k], out[i][k])
		}
	}
	for i := range out {
		r := islands.Root(int32(i))
		for k := range 2 {
			out[i][k] -= float32(math.Floor(float64(least[r][k])))
		}
	}
	return out
}

// flat reports whether the area is one colour.
func (a *atlasArea) flat() bool { return a.image == nil || a.image.Rect.Dx()*a.image.Rect.Dy() == 1 }

// smallImages decodes the small textures once.
type smallImages struct {
	mu  sync.Mutex
	img map[int]*image.NRGBA
	dir string
}

// smallImage returns the pixels of a texture for HLODs.
func (b *tileBuilder) smallImage(i int) (*image.NRGBA, error) {
	s := &b.images
	s.mu.Lock()
	defer s.mu.Unlock()
	if img, ok := s.img[i]; ok {
		return img, nil
	}
	if b.shrunk[i].Kept != nil {
		return white(), nil // a note says so; the material's own colour remains
	}
	img, err := texture.Load(filepath.Join(s.dir, b.shrunk[i].File))
	if errors.Is(err, texture.ErrDamaged) || errors.Is(err, texture.ErrFormat) || errors.Is(err, texture.ErrTooLarge) {
		img = white() // a note says so; the material's own colour remains
	} else if err != nil {
		return nil, err
	}
	if s.img == nil {
		s.img = map[int]*image.NRGBA{}
	}
	s.img[i] = img
	return img, nil
}

// white is a picture that changes nothing.
func white() *image.NRGBA {
	return &image.NRGBA{Pix: []byte{255, 255, 255, 255}, Stride: 4, Rect: image.Rect(0, 0, 1, 1)}
}

// surface returns a mesh's area in square metres.
func surface(m *mesh.Mesh) float64 {
	sum := 0.0
	for i := 0; i+2 < len(m.Indices); i += 3 {
		a, b, c := m.Positions[m.Indices[i]], m.Positions[m.Indices[i+1]], m.Positions[m.Indices[i+2]]
		sum += float64(b.Sub(a).Cross(c.Sub(a)).Len() / 2)
	}
	return sum
}

// layoutAtlas gives every area a place: the more ground it covers the larger,
// and never larger than its texture. The picture is square, at most side
// texels.
func layoutAtlas(areas []*atlasArea, side int) *image.NRGBA {
	total := 0.0
	for _, a := range areas {
		if !a.flat() {
			total += a.ground
		}
	}
	order := slices.Clone(areas)
	for scale := 1.0; ; scale *= 0.85 {
		for _, a := range order {
			w, h := atlasLeast, atlasLeast
			if !a.flat() && total > 0 {
				edge := scale * float64(side) * math.Sqrt(a.ground/total)
				w = a.sideOf(0, edge)
				h = a.sideOf(1, edge)
			}
			a.at = image.Rect(0, 0, w+2*atlasPadding, h+2*atlasPadding)
		}
		slices.SortStableFunc(order, func(a, b *atlasArea) int { return cmp.Compare(b.at.Dy(), a.at.Dy()) })
		for s := 16; s <= max(side, 16); s *= 2 {
			if shelve(order, s) {
				return image.NewNRGBA(image.Rect(0, 0, s, s))
			}
		}
		if scale < 1e-3 { // more areas than texels: they share one
			for _, a := range order {
				a.at = image.Rect(0, 0, 2*atlasPadding+1, 2*atlasPadding+1)
			}
			return image.NewNRGBA(image.Rect(0, 0, 16, 16))
		}
	}
}

// sideOf returns the texels along one side.
func (a *atlasArea) sideOf(axis int, edge float64) int {
	texels := []int{a.image.Rect.Dx(), a.image.Rect.Dy()}[axis]
	most := max(atlasLeast, int(math.Ceil(float64(texels)*(a.hi[axis]-a.lo[axis]))))
	return min(most, max(atlasLeast, int(edge)))
}

// shelve places areas of falling height in rows.
func shelve(areas []*atlasArea, side int) bool {
	x, y, row := 0, 0, 0
	for _, a := range areas {
		w, h := a.at.Dx(), a.at.Dy()
		if x+w > side {
			x, y, row = 0, y+row, 0
		}
		if w > side || y+h > side {
			return false
		}
		a.at = image.Rect(x, y, x+w, y+h)
		x, row = x+w, max(row, h)
	}
	return true
}

// draw paints the area with its padding.
func (a *atlasArea) draw(img *image.NRGBA, m *gltfscene.Material) {
	inner := a.at.Inset(atlasPadding)
	w, h := float64(inner.Dx()), float64(inner.Dy())
	for y := a.at.Min.Y; y < a.at.Max.Y; y++ {
		for x := a.at.Min.X; x < a.at.Max.X; x++ {
			u := (float64(min(max(x, inner.Min.X), inner.Max.X-1)-inner.Min.X) + 0.5) / w
			v := (float64(min(max(y, inner.Min.Y), inner.Max.Y-1)-inner.Min.Y) + 0.5) / h
			img.SetNRGBA(x, y, a.sample(u, v, 1/w, 1/h, m))
		}
	}
}

// sample returns the base colour of a texel that is centred at u, v of the
// area and du x dv large, each 0 to 1.
func (a *atlasArea) sample(u, v, du, dv float64, m *gltfscene.Material) color.NRGBA {
	sum := [4]float64{1, 1, 1, 1}
	if a.image != nil {
		sum = a.average(u, v, du, dv)
	}
	var out [4]uint8
	for k := range 3 {
		out[k] = texture.FromLinear(float32(sum[k]) * m.BaseColor[k])
	}
	out[3] = 255
	if m.AlphaMode == gltfscene.AlphaMask {
		// One threshold serves the whole atlas.
		alpha := float64(sum[3] * float64(m.BaseColor[3])) // rounded: no machine may fuse it
		out[3] = uint8(min(255, max(0, 127.5+float64(255*(alpha-float64(m.AlphaCutoff))))))
	}
	return color.NRGBA{out[0], out[1], out[2], out[3]}
}

// average returns the mean of the texels below an area, in linear light.
func (a *atlasArea) average(u, v, du, dv float64) [4]float64 {
	w, h := a.image.Rect.Dx(), a.image.Rect.Dy()
	if w*h == 1 {
		du, dv = 0, 0
	}
	span := func(axis, n int, t, dt float64) (from, to int) {
		size := a.hi[axis] - a.lo[axis]
		lo, hi := a.lo[axis]+float64((t-float64(dt/2))*size), a.lo[axis]+float64((t+float64(dt/2))*size)
		from = int(math.Floor(lo * float64(n)))
		return from, max(from+1, int(math.Floor(float64(hi*float64(n))+0.5)))
	}
	x0, x1 := span(0, w, u, du)
	y0, y1 := span(1, h, v, dv)
	var sum [4]float64
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			p := a.image.Pix[wrap(y, h)*a.image.Stride+4*wrap(x, w):]
			for k := range 3 {
				sum[k] += float64(texture.Linear(p[k]))
			}
			sum[3] += float64(p[3]) / 255
		}
	}
	for k := range sum {
		sum[k] /= float64((x1 - x0) * (y1 - y0))
	}
	return sum
}

func wrap(i, n int) int { return ((i % n) + n) % n }

// join adds the area's triangles with coordinates of the atlas.
func (a *atlasArea) join(to *mesh.Mesh, w, h int) {
	m, base := a.shape, uint32(len(to.Positions))
	inner := a.at.Inset(atlasPadding)
	at := func(axis, from, size int, x float64) float64 {
		t := 0.5
		if span := a.hi[axis] - a.lo[axis]; !a.flat() && span > 0 {
			t = min(1, max(0, (x-a.lo[axis])/span))
		}
		return float64(from) + float64(t*float64(size))
	}
	for i, p := range m.Positions {
		to.Positions = append(to.Positions, p)
		to.Normals = append(to.Normals, m.Normals[i])
		c := [4]float32{1, 1, 1, 1}
		if m.Colors != nil {
			c = m.Colors[i]
		}
		to.Colors = append(to.Colors, c)
		var uv [2]float32
		if m.UV[0] != nil {
			uv = m.UV[0][i]
		}
		to.UV[0] = append(to.UV[0], [2]float32{
			float32(at(0, inner.Min.X, inner.Dx(), float64(uv[0])) / float64(w)),
			float32(at(1, inner.Min.Y, inner.Dy(), float64(uv[1])) / float64(h)),
		})
	}
	for _, v := range m.Indices {
		to.Indices = append(to.Indices, base+v)
	}
}

// atlasMaterial writes the picture and returns the material that shows it: of
// metal and roughness the mean over the surface.
func (c *scenePlan) atlasMaterial(b *tileBuilder, tile string, areas []*atlasArea, img *image.NRGBA) (*atlasMaterial, error) {
	m := defaultMaterial()
	m.Name = tile + smallSuffix
	var total, metalSum, roughSum float64
	for _, a := range areas {
		src := &b.materials[a.d.material]
		total += a.ground
		metal, rough, err := b.meanMetalRough(src)
		if err != nil {
			return nil, err
		}
		metalSum += float64(metal * a.ground)
		roughSum += float64(rough * a.ground)
		m.DoubleSided = m.DoubleSided || src.DoubleSided
		if src.AlphaMode == gltfscene.AlphaMask {
			m.AlphaMode, m.AlphaCutoff = gltfscene.AlphaMask, 0.5
		}
	}
	m.Metallic, m.Roughness = 0, 1
	if total > 0 {
		m.Metallic, m.Roughness = float32(metalSum/total), float32(roughSum/total)
	}
	role := texture.Role{Use: texture.Color, Edges: [2]texture.Edge{texture.EdgeClamp, texture.EdgeClamp}}
	if m.AlphaMode == gltfscene.AlphaMask {
		role.Alpha, role.Cutoff = texture.AlphaMasked, m.AlphaCutoff
	}
	stem := freeStem(tile+"_atlas", texture.OneExt(c.opts.Textures), b.small, b.staged)
	var file texture.Cooked
	name := path.Join(c.opts.PayloadDir, texture.Folder, stem+texture.OneExt(c.opts.Textures))
	w, err := b.out.write(name, func(w io.Writer) error {
		var err error
		file, err = texture.EncodeOne(w, stem, img, role, c.opts.Textures, c.opts.ASTC)
		return err
	})
	if err != nil {
		return nil, err
	}
	file.Size = w.size
	m.BaseColorTex.Image = 0
	s := texture.Staged{File: file.File, Width: file.Width, Height: file.Height, Size: file.Size}
	s.Cooked[texture.Color] = &file
	return &atlasMaterial{m, []texture.Staged{s}, file, fileRecord{name, w.size, w.sha256}}, nil
}

// freeStem begins a file name that no texture of the scene has.
func freeStem(stem, ext string, lists ...[]texture.Staged) string {
	for again := true; again; {
		again = false
		for _, list := range lists {
			if slices.ContainsFunc(list, func(s texture.Staged) bool { return s.Names(stem + ext) }) {
				stem, again = "_"+stem, true
			}
		}
	}
	return stem
}

// meanMetalRough returns the factors of a material times the mean of its
// texture.
func (b *tileBuilder) meanMetalRough(m *gltfscene.Material) (metal, rough float64, err error) {
	metal, rough = float64(m.Metallic), float64(m.Roughness)
	if t := &m.MetalRoughTex; t.Image >= 0 && b.shrunk[t.Image].File != "" {
		img, err := b.smallImage(t.Image)
		if err != nil {
			return 0, 0, err
		}
		mean := texture.Resize(img, 1, 1, texture.Data).Pix
		metal, rough = float64(metal*float64(mean[2]))/255, float64(rough*float64(mean[1]))/255
	}
	return metal, rough, nil
}

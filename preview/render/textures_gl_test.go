//go:build cgo && !nopreview

package render

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unsafe"

	"github.com/go-gl/gl/v4.1-core/gl"
	"go.uber.org/goleak"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// TestMissingTextures are drawn white and counted; hostile names are not
// followed.
func TestMissingTextures(t *testing.T) {
	top := t.TempDir()
	writePNG(t, filepath.Join(top, "secret.png"), solid(4, 4, color.NRGBA{255, 0, 0, 255}))
	dir := filepath.Join(top, "tiles")
	writePNG(t, filepath.Join(dir, "good.png"), solid(4, 4, color.NRGBA{0, 0, 255, 255}))
	r := headless(t, Options{Width: 16, Height: 16})
	for _, c := range []struct {
		uri     string
		want    color.NRGBA
		missing int
	}{
		{"good.png", color.NRGBA{0, 0, 255, 255}, 0},
		{"GOOD.PNG", color.NRGBA{0, 0, 255, 255}, 0},
		{"none.png", color.NRGBA{255, 255, 255, 255}, 1},
		{"../secret.png", color.NRGBA{255, 255, 255, 255}, 1},
		{"/etc/passwd", color.NRGBA{255, 255, 255, 255}, 1},
	} {
		m := paint(255, 255, 255)
		m.BaseColorTexture = 0
		a := assemble([]part{screen(-5)}, []records.Material{m}, c.uri)
		a.Dir = dir
		s := r.Draw(Frame{Camera: at(0), Drawn: put(t, r, a)})
		if s.TexturesMissing != c.missing || s.Textures != 1-c.missing || s.TexturesPending != 0 {
			t.Errorf("%s: %+v", c.uri, s)
		}
		wantPixel(t, r.ReadPixels(), 8, 8, c.want, 0)
		r.Release(key(0, payload.RepFull))
	}
	if s := r.Draw(Frame{Camera: at(0)}); s.Textures != 0 || s.TextureBytes != 0 || s.TexturesMissing != 0 {
		t.Errorf("left over: %+v", s)
	}
}

func solid(w, h int, c color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		copy(img.Pix[4*i:], []uint8{c.R, c.G, c.B, c.A})
	}
	return img
}

// TestCookedTextures: blocks go to the GPU as they are, or decoded where it
// does not read them; both look the same.
func TestCookedTextures(t *testing.T) {
	for _, c := range []struct {
		format utex.PixelFormat
		flags  utex.Flags
		block  [16]byte // X = 1, Y = 0: leans to the right
		kept   func(*Info) bool
	}{
		{utex.BC5, 0, [16]byte{0: 255, 1: 255, 8: 128, 9: 128}, func(i *Info) bool { return i.Blocks }},
		{
			utex.ASTC6x6, utex.NormalPacked,
			[16]byte{0xfc, 0xfd, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 128, 128},
			func(i *Info) bool { return i.ASTC },
		},
	} {
		dir := t.TempDir()
		var b bytes.Buffer
		w, err := utex.NewWriter(&b, 40, 24, c.format, c.flags)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range w.Info().Levels {
			if err := w.WriteLevel(bytes.Repeat(c.block[:], int(l.Size)/16)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "lean.utex"), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		both(t, Options{Width: 16, Height: 16, ShadowSize: -1}, func(t *testing.T, r *Renderer) {
			m := defaultMaterial()
			m.NormalTexture = 0
			a := assemble([]part{screen(-5)}, []records.Material{m}, "lean.utex")
			a.Dir = dir
			s := r.Draw(Frame{Camera: at(0), Drawn: put(t, r, a), View: ViewNormals})
			wantPixel(t, r.ReadPixels(), 8, 8, color.NRGBA{255, 128, 128, 255}, 3)
			want := int64(len(b.Bytes())) - 64 - 6*16
			if info := r.Info(); !c.kept(&info) {
				want = 4 * (40*24 + 20*12 + 10*6 + 5*3 + 2*1 + 1)
			}
			if s.TextureBytes != want {
				t.Errorf("%v: %d bytes, want %d", c.format, s.TextureBytes, want)
			}
		})
	}
}

// TestTexturesOfLODGroups: coarser levels of a group are limited, however near
// they are.
func TestTexturesOfLODGroups(t *testing.T) {
	dir := t.TempDir()
	writePNG(t, filepath.Join(dir, "a.png"), solid(256, 256, color.NRGBA{1, 2, 3, 255}))
	p, err := texture.ProfileNamed("balanced")
	if err != nil {
		t.Fatal(err)
	}
	p.MaxDimension, p.MinDimension = 64, 16
	for level, edge := range []int64{256, 64, 16} {
		r := headless(t, Options{Width: 16, Height: 16, Textures: p})
		m := paint(255, 255, 255)
		m.BaseColorTexture = 0
		a := assemble([]part{screen(-5)}, []records.Material{m}, "a.png")
		a.Dir, a.Level, a.Levels = dir, level, 3
		f := Frame{Camera: at(0), Drawn: put(t, r, a)}
		r.Draw(f) // sees it
		if err := r.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := r.Draw(f); s.TextureBytes/4 < edge*edge || s.TextureBytes/4 >= 2*edge*edge {
			t.Errorf("level %d: %d bytes, want an edge of %d", level, s.TextureBytes, edge)
		}
	}
}

// TestRetryTextures: a texture that comes later is found later.
func TestRetryTextures(t *testing.T) {
	dir := t.TempDir()
	r := headless(t, Options{Width: 16, Height: 16})
	m := paint(255, 255, 255)
	m.BaseColorTexture = 0
	a := assemble([]part{screen(-5)}, []records.Material{m}, "late.png")
	a.Dir = dir
	f := Frame{Camera: at(0), Drawn: put(t, r, a)}
	for _, missing := range []int{1, 0, 0} {
		r.RetryTextures()
		if err := r.Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := r.Draw(f); s.TexturesMissing != missing || s.Textures != 1-missing {
			t.Errorf("%+v, want %d missing", s, missing)
		}
		writePNG(t, filepath.Join(dir, "late.png"), solid(4, 4, color.NRGBA{0, 200, 0, 255}))
		if missing == 0 {
			wantPixel(t, r.ReadPixels(), 8, 8, color.NRGBA{0, 200, 0, 255}, 0)
		}
	}
}

// TestTextureOrientation: v is stored bottom-up, images top-down.
func TestTextureOrientation(t *testing.T) {
	dir := t.TempDir()
	img := solid(8, 8, color.NRGBA{0, 0, 255, 255})
	for x := range 8 {
		for y := range 4 {
			img.SetNRGBA(x, y, color.NRGBA{255, 0, 0, 255})
		}
	}
	writePNG(t, filepath.Join(dir, "flag.png"), img)
	both(t, Options{Width: 32, Height: 32}, func(t *testing.T, r *Renderer) {
		m := paint(255, 255, 255)
		m.BaseColorTexture = 0
		a := assemble([]part{quad(geom.Vec3{0, 0, -5}, right.Scale(3), up.Scale(3))}, []records.Material{m}, "flag.png")
		a.Dir = dir
		r.Draw(Frame{Camera: at(0), Drawn: put(t, r, a)})
		got := r.ReadPixels()
		wantPixel(t, got, 16, 4, color.NRGBA{255, 0, 0, 255}, 0)
		wantPixel(t, got, 16, 27, color.NRGBA{0, 0, 255, 255}, 0)
	})
}

// rings returns textures of a scene whose sizes change at 10 and 20 metres.
func rings() config.Textures {
	return config.Textures{
		Profile: "test", UpgradeRadius: 10, DowngradeRadius: 20, MaxDimension: 128, MinDimension: 32, Interval: 0.1, ConcurrentOps: 2,
		Hysteresis: 0.1, PressureHold: 3,
	}
}

// flagged is one part with one texture, 5 m before the camera at(0).
func flagged(dir, uri string) *payload.Asset {
	m := paint(255, 255, 255)
	m.BaseColorTexture = 0
	a := assemble([]part{quad(geom.Vec3{0, 0, -5}, right.Scale(9), up.Scale(9))}, []records.Material{m}, uri)
	a.Dir = dir
	return a
}

// rgba8 returns the bytes of a square texture with all its levels.
func rgba8(edge int64) (n int64) {
	for ; edge > 0; edge /= 2 {
		n += 4 * edge * edge
	}
	return n
}

// frames runs texture streaming as an application does until time.
func frames(t *testing.T, r *Renderer, f Frame, from, to time.Duration) (s Stats) {
	t.Helper()
	for now := from; now <= to; now += 50 * time.Millisecond {
		if err := r.AwaitTextures(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.StreamTextures(TextureView{Now: now, Camera: f.Camera.Position, Root: f.Root})
		r.Pump(Budget{})
		s = r.Draw(f)
	}
	return s
}

// TestTextureSizes: textures grow as the camera or the scene comes nearer and
// shrink as it goes; the picture stays.
func TestTextureSizes(t *testing.T) {
	dir := t.TempDir()
	green := color.NRGBA{0, 200, 0, 255}
	writePNG(t, filepath.Join(dir, "green.png"), solid(256, 256, green))
	both(t, Options{Width: 16, Height: 16, Textures: rings()}, func(t *testing.T, r *Renderer) {
		k := key(0, payload.RepFull)
		if err := r.Upload(k, flagged(dir, "green.png")); err != nil {
			t.Fatal(err)
		}
		f := Frame{Drawn: []runtime.Drawn{{Key: k, Fade: 1}}}
		shift := 0.0
		f.Root = func(payload.SceneID) geom.Mat4 {
			m := geom.Identity()
			m[14] = shift
			return m
		}
		now := time.Duration(0)
		for _, c := range []struct {
			camera, shift float64
			edge          int64
			ups, downs    uint64
			color         [3]uint8
		}{
			{45, 0, 32, 0, 0, tierColors.minimum},
			{10, 0, 128, 1, 0, tierColors.medium},
			{0, 0, 256, 2, 0, tierColors.full},
			{10, 0, 128, 2, 1, tierColors.medium},
			{10, -30, 32, 2, 2, tierColors.minimum}, // the scene moves away
			{40, 30, 128, 3, 2, tierColors.medium},
		} {
			shift, f.Camera, f.View = c.shift, at(c.camera), ViewLit
			s := frames(t, r, f, now, now+time.Second)
			now += time.Second
			if s.TextureBytes != rgba8(c.edge) || s.TextureUpgrades != c.ups || s.TextureDowngrades != c.downs || s.TexturesPending != 0 {
				t.Errorf("camera at %v, scene at %v: %+v", c.camera, c.shift, s)
			}
			wantPixel(t, r.ReadPixels(), 8, 8, green, 1)
			f.View = ViewTextureTiers
			r.Draw(f)
			wantPixel(t, r.ReadPixels(), 8, 8, color.NRGBA{c.color[0], c.color[1], c.color[2], 255}, 45) // shaded a little
		}
		if r.Shed(5) != 1 { // medium becomes minimum at once, or is read again
			t.Error("nothing was shed")
		}
		if s := frames(t, r, f, now, now+time.Second); s.TextureBytes != rgba8(32) {
			t.Errorf("after the shed: %+v", s)
		}
		r.Release(k)
		if s := r.Draw(Frame{Camera: at(0)}); s.Textures != 0 || s.TextureBytes != 0 || len(r.textures.scenes) != 0 || len(r.textures.sets.byKey) != 0 {
			t.Errorf("left over: %+v", s)
		}
	})
}

// TestTextureBudget: a budget that holds one texture of two at full size is
// kept, and the nearer one has it. HLODs stay at the minimum.
func TestTextureBudget(t *testing.T) {
	dir := t.TempDir()
	writePNG(t, filepath.Join(dir, "a.png"), solid(256, 256, color.NRGBA{0, 200, 0, 255}))
	writePNG(t, filepath.Join(dir, "b.png"), solid(256, 256, color.NRGBA{200, 0, 0, 255}))
	writePNG(t, filepath.Join(dir, "c.png"), solid(256, 256, color.NRGBA{0, 0, 200, 255}))
	beside := func(textures int64) int64 { return (textures + 100) * arrayReserve / (arrayReserve - 1) } // what idle layers may take
	budget := beside(rgba8(256) + rgba8(128) + rgba8(32))
	r := headless(t, Options{Width: 16, Height: 16, Textures: rings(), TextureBudget: budget})
	near, far, hlod := key(0, payload.RepFull), key(1, payload.RepFull), key(2, payload.RepHLOD)
	f := Frame{Camera: at(0)}
	for k, uri := range map[payload.Key]string{near: "a.png", far: "b.png", hlod: "c.png"} {
		a := flagged(dir, uri)
		if k == far {
			a.Meshes[0].LocalBounds.Min[2], a.Meshes[0].LocalBounds.Max[2] = -8, -8
		}
		if err := r.Upload(k, a); err != nil {
			t.Fatal(err)
		}
		f.Drawn = append(f.Drawn, runtime.Drawn{Key: k, Fade: 1})
	}
	edge := func(k payload.Key) int { return r.textures.stream.Look(r.reps[k].meshes[0].set.key[slotBase]).Edge }
	r.Pump(Budget{})
	r.Draw(f)
	if err := r.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := r.Draw(f)
	if s.TextureBytes > budget || s.TextureBudget != budget || edge(near) != 256 || edge(far) != 128 || edge(hlod) != 32 || s.TexturesPending != 0 {
		t.Errorf("%+v; edges %d, %d, %d", s, edge(near), edge(far), edge(hlod))
	}
	budget = beside(2*rgba8(128) + rgba8(32))
	if err := r.SetTextures(rings(), budget); err != nil {
		t.Fatal(err)
	}
	if s := frames(t, r, f, 0, 5*time.Second); s.TextureBytes > budget || s.TextureBudget != budget {
		t.Errorf("under a lower budget: %+v", s)
	}
	if err := r.SetTextures(config.Textures{}, 0); !errors.Is(err, texture.ErrParams) {
		t.Errorf("empty parameters: %v", err)
	}
}

// TestTrim: the levels that remain are those that were there, blocks too.
func TestTrim(t *testing.T) {
	r := headless(t, Options{Width: 16, Height: 16})
	if !r.info.CopyImage {
		t.Skip("the driver cannot copy textures")
	}
	d := &r.textures.device
	six, _ := texfile.ParseEncoding("astc-6x6")
	for _, enc := range []texfile.Encoding{texfile.RGBA8, texfile.BC7, texfile.BC5, texfile.ASTC4x4, six} {
		if enc.ASTC() && !r.info.ASTC || enc != texfile.RGBA8 && !enc.ASTC() && !r.info.Blocks {
			continue
		}
		img := &texfile.Image{Use: texfile.Data, Encoding: enc, SourceWidth: 40, SourceHeight: 24}
		for k := range 6 {
			w, h := max(1, 40>>k), max(1, 24>>k)
			img.Levels = append(img.Levels, texfile.Level{Width: w, Height: h, Pix: bytes.Repeat([]byte{byte(40*k + 1)}, enc.RowBytes(w)*enc.Rows(h))})
		}
		if err := d.Upload(1, img); err != nil {
			t.Fatal(err)
		}
		if d.Trim(1, 1) || d.Uploaded(1) {
			t.Error("an upload under way was trimmed")
		}
		for d.pump() > 0 {
		}
		if d.Trim(1, 6) || d.Trim(1, 0) || !d.Trim(1, 2) || !d.Trim(1, 1) {
			t.Error("the wrong levels were dropped")
		}
		if got := d.table[0].at.array.class; got.Width != 5 || got.Height != 3 || got.Levels != 3 {
			t.Errorf("%+v", got)
		}
		for k := range 3 {
			want := img.Levels[k+3].Pix
			if got := readLevel(d.table[0].at, k, enc, len(want)); !bytes.Equal(got, want) {
				t.Errorf("%v, level %d: %v, want %v", enc, k, got, want)
			}
		}
		d.Release(1)
	}
}

// TestTexturesOfThisFrame: what is in view is that of the frame to come, not of
// the last one, and the same that its Draw finds.
func TestTexturesOfThisFrame(t *testing.T) {
	dir := t.TempDir()
	writePNG(t, filepath.Join(dir, "a.png"), solid(16, 16, color.NRGBA{0, 200, 0, 255}))
	r := headless(t, Options{Width: 16, Height: 16})
	ahead, behind := flagged(dir, "a.png"), flagged(dir, "a.png")
	f := Frame{Camera: at(0), Drawn: put(t, r, ahead, behind)}
	f.Root = func(payload.SceneID) geom.Mat4 { return geom.Identity() }
	// The second one is moved behind the camera.
	m := &r.reps[f.Drawn[1].Key].meshes[0]
	m.center[2] = 5
	r.reps[f.Drawn[1].Key].box = geom.Box{Min: geom.Vec3{-9, -9, 5}, Max: geom.Vec3{9, 9, 5}}
	r.Draw(f)
	first, second := r.reps[f.Drawn[0].Key].meshes[0].entity, m.entity
	if !slices.Equal(r.frame.visible, []texture.Entity{first}) {
		t.Fatalf("looking ahead: %v, want %v", r.frame.visible, first)
	}
	f.Camera.Forward = [3]float64{0, 0, 1}
	r.StreamTextures(TextureView{})
	if !slices.Equal(r.frame.visible, []texture.Entity{first}) {
		t.Errorf("without a frame: %v, want that of the last one, %v", r.frame.visible, first)
	}
	r.StreamTextures(TextureView{Frame: &f})
	if !slices.Equal(r.frame.visible, []texture.Entity{second}) {
		t.Errorf("turned around: %v, want %v", r.frame.visible, second)
	}
	r.Draw(f)
	if !slices.Equal(r.frame.visible, []texture.Entity{second}) {
		t.Errorf("Draw: %v, want %v", r.frame.visible, second)
	}
}

// TestCloseWhileTexturesLoad leaves nothing behind.
func TestCloseWhileTexturesLoad(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	t.Run("run", func(t *testing.T) {
		r := headless(t, Options{Width: 16, Height: 16})
		for i, name := range []string{"a.png", "b.png", "c.png", "none.png"} {
			if name != "none.png" {
				writePNG(t, filepath.Join(dir, name), solid(512, 512, color.NRGBA{0, 200, 0, 255}))
			}
			if err := r.Upload(key(int32(i), payload.RepFull), flagged(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		r.StreamTextures(TextureView{})
	})
}

// readLevel returns a level of a texture, which has n bytes.
func readLevel(l *layer, level int, enc texfile.Encoding, n int) []byte {
	out := make([]byte, n*len(l.array.layers))
	gl.ActiveTexture(gl.TEXTURE0 + unitAtlas)
	gl.BindTexture(gl.TEXTURE_2D_ARRAY, uint32(l.array.name))
	gl.PixelStorei(gl.PACK_ALIGNMENT, 1)
	if enc == texfile.RGBA8 {
		gl.GetTexImage(gl.TEXTURE_2D_ARRAY, int32(level), gl.RGBA, gl.UNSIGNED_BYTE, unsafe.Pointer(&out[0]))
	} else {
		gl.GetCompressedTexImage(gl.TEXTURE_2D_ARRAY, int32(level), unsafe.Pointer(&out[0]))
	}
	return out[n*l.number:][:n]
}

package texture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

// kitchenOf stages images and returns the folders.
func kitchenOf(t *testing.T, pictures map[string][]byte, order ...string) (from, dir string, staged []Staged) {
	t.Helper()
	base := t.TempDir()
	from, dir = filepath.Join(base, "sources"), filepath.Join(base, Folder)
	var sources []Source
	for i, name := range order {
		sources = append(sources, source(i, name, pictures[name]))
	}
	staged, err := Stage(context.Background(), from, sources, Limits{}, 2)
	if err != nil {
		t.Fatal(err)
	}
	return from, dir, staged
}

func rolesOf(list ...Role) Roles {
	var r Roles
	for _, x := range list {
		r.Add(x)
	}
	return r
}

var (
	asColor  = rolesOf(Role{Use: Color})
	asNormal = rolesOf(Role{Use: Normal})
	asData   = rolesOf(Role{Use: Data})
)

// odd are pictures of every kind that a PNG has, none a multiple of a block.
func odd(t testing.TB) (pictures map[string][]byte, order []string) {
	palette := image.NewPaletted(image.Rect(0, 0, 7, 5), color.Palette{color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 0, 255, 100}})
	palette.SetColorIndex(3, 3, 1)
	grey := image.NewGray(image.Rect(0, 0, 13, 1))
	for i := range grey.Pix {
		grey.Pix[i] = uint8(20 * i)
	}
	pictures = map[string][]byte{
		"photo.png": pngOf(t, photo(61, 47)), "photo.jpg": jpegOf(t, photo(30, 18)), "deep.png": pngOf(t, deep()),
		"palette.png": pngOf(t, palette), "grey.png": pngOf(t, grey), "one.png": pngOf(t, image.NewNRGBA(image.Rect(0, 0, 1, 1))),
	}
	return pictures, []string{"photo.png", "photo.jpg", "deep.png", "palette.png", "grey.png", "one.png"}
}

// TestCookBC checks every kind of picture in every role: the container is
// sound, its chain complete and the picture is the same.
func TestCookBC(t *testing.T) {
	pictures, order := odd(t)
	for use, roles := range map[Use]Roles{Color: rolesOf(Role{Use: Color, Alpha: AlphaBlended}), Normal: asNormal, Data: asData} {
		from, dir, staged := kitchenOf(t, pictures, order...)
		all := make([]Roles, len(staged))
		for i := range all {
			all[i] = roles
		}
		out, err := Cook(context.Background(), from, dir, staged, all, Options{Mode: ModeBC, Variants: []Variant{{}}, Jobs: 2})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range out[0] {
			c := s.Cooked[use]
			if c == nil || s.Kept != nil {
				t.Fatalf("%v %s: %+v, %v", use, order[i], c, s.Kept)
			}
			if s.As(use) != *c || !strings.HasSuffix(c.File, ".utex") || c.Width != s.Width || c.Height != s.Height {
				t.Errorf("%v %s: %+v", use, order[i], c)
			}
			checkUtex(t, filepath.Join(dir, c.File), use, c, filepath.Join(from, s.File))
		}
		if n := len(testfile.ReadTree(t, dir)); n != len(order) {
			t.Errorf("%d files", n)
		}
		if err := Publish(from, dir, out[0], all); err != nil || len(testfile.ReadTree(t, dir)) != len(order) {
			t.Errorf("published what nobody needs: %v", err)
		}
	}
}

// checkUtex compares a container with the picture that it was made from.
func checkUtex(t *testing.T, path string, use Use, c *Cooked, original string) {
	t.Helper()
	found, err := utex.ValidateFile(path)
	if err != nil || len(found) != 1 || found[0].Code != utex.CodeEngine {
		t.Errorf("%s: %v, %v", path, found, err)
	}
	r, err := utex.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	want := map[Use]utex.PixelFormat{Color: utex.BC7SRGB, Normal: utex.BC5, Data: utex.BC7}[use]
	wantRecord := map[Use]records.TextureFormat{Color: records.TextureBC7, Normal: records.TextureBC5, Data: records.TextureBC7}[use]
	if r.Format != want || c.Format != wantRecord || c.Levels != len(r.Levels) || c.GPU != r.Bytes(0) || len(r.Levels) != utex.FullChain(r.Width, r.Height) {
		t.Errorf("%s: %+v, %+v", path, r.Info, c)
	}
	img, err := Load(original)
	if err != nil {
		t.Fatal(err)
	}
	one := newWorkers(1)
	one.join()
	base := scaled(one, img, r.Width, r.Height, Role{Use: use, Alpha: AlphaBlended})
	data, err := r.ReadLevel(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	pix, err := utex.Decode(r.Format, data, r.Width, r.Height)
	if err != nil {
		t.Fatal(err)
	}
	if q := psnr(base.Pix, pix); q < 22 && filepath.Base(original) != "deep.png" { // six colours without any order
		t.Errorf("%s: %.1f dB", path, q)
	}
	if alpha := r.Flags&utex.HasAlpha != 0; use == Color && alpha == base.Opaque() {
		t.Errorf("%s: flags %d, opaque %v", path, r.Flags, base.Opaque())
	}
}

// TestCookResize: only what is too large changes, keeps its format and takes
// the place of the original.
func TestCookResize(t *testing.T) {
	pictures := map[string][]byte{"big.png": pngOf(t, photo(80, 40)), "photo.jpg": jpegOf(t, photo(50, 100)), "small.png": pngOf(t, photo(20, 40))}
	from, dir, staged := kitchenOf(t, pictures, "big.png", "photo.jpg", "small.png", "big.png")
	roles := []Roles{asColor, asNormal, asData, asData} // the first image serves twice
	out, err := Cook(context.Background(), from, dir, staged, roles, Options{
		Mode: ModeResize, Variants: []Variant{{MaxSize: 40}, {MaxSize: 10, Suffix: "_hlod"}}, Jobs: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range out {
		if err := Publish(from, dir, list, roles); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		got  Cooked
		file string
		w, h int
	}{
		{out[0][0].As(Color), "big.png", 40, 20},
		{out[0][3].As(Data), "big_data.png", 40, 20},
		{out[0][1].As(Normal), "photo.png", 20, 40},
		{out[0][2].As(Data), "small.png", 20, 40},
		{out[1][0].As(Color), "big_hlod.png", 10, 5},
		{out[1][0].As(Data), "big_data_hlod.png", 10, 5},
		{out[1][1].As(Normal), "photo_hlod.png", 5, 10},
		{out[1][2].As(Data), "small_hlod.png", 5, 10},
	} {
		data, err := os.ReadFile(filepath.Join(dir, c.file))
		if err != nil || c.got.File != c.file || c.got.Size != int64(len(data)) || c.got.Levels != 1 || c.got.Format != records.TextureUnknown {
			t.Errorf("%s: %+v, %v", c.file, c.got, err)
			continue
		}
		if b := decode(t, data).Bounds(); b.Dx() != c.w || b.Dy() != c.h || c.got.Width != c.w || c.got.Height != c.h {
			t.Errorf("%s: %v, told %+v", c.file, b, c.got)
		}
	}
	if n := len(testfile.ReadTree(t, dir)); n != 8 {
		t.Errorf("%d files: %v", n, keys(testfile.ReadTree(t, dir)))
	}
	if !bytes.Equal(pictures["small.png"], []byte(testfile.ReadTree(t, dir)["small.png"])) {
		t.Error("an image that was small enough has changed")
	}
}

// TestCookNames: a colour and data of one image, images whose names differ in
// their ending, and variants of the same size.
func TestCookNames(t *testing.T) {
	pictures := map[string][]byte{"a.png": pngOf(t, photo(8, 8)), "A.jpg": jpegOf(t, photo(9, 9)), "a_data.png": pngOf(t, photo(10, 10))}
	from, dir, staged := kitchenOf(t, pictures, "a.png", "A.jpg", "a_data.png")
	roles := []Roles{rolesOf(Role{Use: Data}, Role{Use: Color}), asColor, asData}
	out, err := Cook(context.Background(), from, dir, staged, roles, Options{Mode: ModeBC, Variants: []Variant{{MaxSize: 100}, {MaxSize: 8, Suffix: "_hlod"}}, Jobs: 3})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range out {
		got = append(got, v[0].As(Color).File, v[0].As(Data).File, v[1].As(Color).File, v[2].As(Data).File)
	}
	want := []string{"a.utex", "a_data.utex", "A_9d6fe2a1.utex", "a_data_", "a.utex", "a_data.utex", "A_hlod.utex", "a_data_hlod.utex"}
	for i := range want {
		if i == 2 || i == 3 {
			if !strings.HasPrefix(strings.ToLower(got[i]), strings.ToLower(want[i][:2])) {
				t.Errorf("name %d is %s", i, got[i])
			}
		} else if got[i] != want[i] {
			t.Errorf("name %d is %s, want %s", i, got[i], want[i])
		}
	}
	disk := testfile.ReadTree(t, dir)
	if len(disk) != 6 {
		t.Errorf("files: %v", keys(disk))
	}
	for _, name := range got {
		if disk[name] == "" {
			t.Errorf("%s is not there", name)
		}
	}
	if !staged[0].Names("A.PNG") || !out[0][0].Names("a_DATA.utex") || staged[0].Names("b.png") {
		t.Error("Names")
	}
}

// TestCookDamaged: what only the decoder finds does not stop a cook: the image
// stays as it is, with a reason.
func TestCookDamaged(t *testing.T) {
	good := pngOf(t, photo(40, 40))
	i := bytes.Index(good, []byte("IDAT"))
	garbage := join(good[:i-4], chunk("IDAT", bytes.Repeat([]byte{0xaa}, 60)...), chunk("IEND"))
	huge := join([]byte(pngMagic), header(16000, 16000, 8, 2), chunk("IDAT", 1, 2, 3), chunk("IEND"))
	wide := bytes.Clone(jpegOf(t, photo(8, 8)))
	sof := bytes.Index(wide, []byte{0xff, 0xc0})
	copy(wide[sof+5:], []byte{0x3f, 0xff, 0x3f, 0xff}) // 16383 x 16383
	pictures := map[string][]byte{"garbage.png": garbage, "huge.png": huge, "good.png": good, "wide.jpg": wide}
	for _, mode := range []Mode{ModeResize, ModeBC} {
		from, dir, staged := kitchenOf(t, pictures, "garbage.png", "huge.png", "good.png", "wide.jpg")
		roles := []Roles{asColor, asColor, asColor, asColor}
		out, err := Cook(context.Background(), from, dir, staged, roles, Options{Mode: mode, Variants: []Variant{{MaxSize: 20}}, Jobs: 2, Limits: Limits{Together: 1}})
		if err != nil {
			t.Fatal(err)
		}
		for i, bad := range []bool{true, true, false, true} {
			s := out[0][i]
			if bad != errors.Is(s.Kept, ErrDamaged) || bad != (s.Cooked[Color] == nil) {
				t.Errorf("%v %s: %v, %+v", mode, s.File, s.Kept, s.Cooked)
			}
			if bad && s.As(Color).File != s.File {
				t.Errorf("%s does not serve itself", s.File)
			}
		}
		if err := Publish(from, dir, out[0], roles); err != nil {
			t.Fatal(err)
		}
		disk := testfile.ReadTree(t, dir)
		if len(disk) != 4 || disk["garbage.png"] != string(garbage) {
			t.Errorf("files: %v", keys(disk))
		}
	}
	// The same in copies that are shrunk.
	from, _, staged := kitchenOf(t, pictures, "garbage.png", "good.png")
	small, err := Shrink(context.Background(), from, staged, []Use{Color, Color}, 10, "_hlod", Limits{}, 2)
	if err != nil || small[0].File != "garbage.png" || !errors.Is(small[0].Kept, ErrDamaged) || small[1].File != "good_hlod.png" {
		t.Errorf("%+v, %v", small, err)
	}
}

// TestCookIgnoresJobs: the same files and results with any number of workers
// and any memory.
func TestCookIgnoresJobs(t *testing.T) {
	pictures, order := odd(t)
	pictures["wide.png"] = pngOf(t, photo(700, 300))
	order = append(order, "wide.png")
	var want map[string]string
	var results [][]Staged
	for i, jobs := range []int{0, 1, 3, 16} {
		if race.Enabled && i%2 > 0 {
			continue // make test tries all without the detector
		}
		from, dir, staged := kitchenOf(t, pictures, order...)
		roles := make([]Roles, len(staged))
		for k := range roles {
			roles[k] = rolesOf(Role{Use: []Use{Color, Normal, Data}[k%3]}, Role{Use: Data})
		}
		var calls atomic.Int32
		got, err := Cook(context.Background(), from, dir, staged, roles, Options{
			Mode: ModeBC, Variants: []Variant{{}, {MaxSize: 16, Suffix: "_hlod"}}, Jobs: jobs, Limits: Limits{Together: int64(i * 100000)},
			Progress: func(done, total int) {
				if int32(done) != calls.Load() || total != len(order) {
					t.Errorf("progress %d of %d at call %d", done, total, calls.Load())
				}
				calls.Add(1)
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		disk := testfile.ReadTree(t, dir)
		if want == nil {
			want, results = disk, got
		}
		if !reflect.DeepEqual(want, disk) || !reflect.DeepEqual(results, got) || int(calls.Load()) != len(order)+1 {
			t.Errorf("%d jobs give other files or results", jobs)
		}
	}
}

func TestCookErrors(t *testing.T) {
	pictures, order := odd(t)
	from, dir, staged := kitchenOf(t, pictures, order...)
	roles := make([]Roles, len(staged))
	for i := range roles {
		roles[i] = asColor
	}
	o := Options{Mode: ModeBC, Variants: []Variant{{}}, Jobs: 2}
	done, stop := context.WithCancel(context.Background())
	stop()
	if _, err := Cook(done, from, dir, staged, roles, o); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	testfile.Write(t, filepath.Join(from, "..", "file"), "")
	if _, err := Cook(context.Background(), from, filepath.Join(from, "..", "file"), staged, roles, o); err == nil {
		t.Error("cooking into a file worked")
	}
	if err := os.Remove(filepath.Join(from, staged[2].File)); err != nil {
		t.Fatal(err)
	}
	if _, err := Cook(context.Background(), from, dir, staged, roles, o); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	// Nothing to do makes no folder.
	none := filepath.Join(t.TempDir(), "none")
	if _, err := Cook(context.Background(), from, none, staged, make([]Roles, len(staged)), o); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("an empty folder was made")
	}
}

func TestRoles(t *testing.T) {
	var r Roles
	r.Add(Role{Use: Color, Edges: [2]Edge{EdgeClamp, EdgeClamp}})
	r.Add(Role{Use: Color, Alpha: AlphaMasked, Cutoff: 0.3, Edges: [2]Edge{EdgeClamp, EdgeRepeat}})
	r.Add(Role{Use: Color, Alpha: AlphaMasked, Cutoff: 0.7, Edges: [2]Edge{EdgeClamp, EdgeClamp}})
	r.Add(Role{Use: Color, Alpha: AlphaBlended})
	r.Add(Role{Use: Data})
	if want := (Role{Use: Color, Alpha: AlphaMasked, Cutoff: 0.3}); r[Color] != want {
		t.Errorf("%+v", r[Color])
	}
	if r.Count() != 2 || r.Merged() != Color || r.List()[1].Use != Data {
		t.Errorf("%+v", r)
	}
	for _, m := range []Mode{ModeCopy, ModeResize, ModeBC, ModeASTC} {
		if got, err := ParseMode(m.String()); got != m || err != nil {
			t.Errorf("%v became %v, %v", m, got, err)
		}
	}
	if _, err := ParseMode("etc"); err == nil || !strings.Contains(err.Error(), "copy, resize, bc, astc") {
		t.Errorf("%v", err)
	}
}

func TestEncodeOne(t *testing.T) {
	img := photo(12, 12)
	for m, ext := range map[Mode]string{ModeCopy: ".png", ModeResize: ".png", ModeBC: ".utex", ModeASTC: ".utex"} {
		var b bytes.Buffer
		c, err := EncodeOne(&b, "atlas", img, Role{Use: Color}, m, ASTC{})
		if err != nil || c.File != "atlas"+ext || c.Width != 12 || c.GPU == 0 {
			t.Errorf("%v: %+v, %v", m, c, err)
		}
		if ext == ".png" {
			if back, err := png.Decode(&b); err != nil || back.Bounds().Dx() != 12 {
				t.Error(err)
			}
		} else if r, err := utex.NewBytesReader(b.Bytes()); err != nil || r.Format != map[Mode]utex.PixelFormat{ModeBC: utex.BC7SRGB, ModeASTC: utex.ASTC4x4SRGB}[m] {
			t.Error(err)
		}
	}
}

func ExampleCook() {
	dir, err := os.MkdirTemp("", "textures")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	wall := pngOf(nil, photo(64, 32))
	ctx := context.Background()
	staged, err := Stage(ctx, dir, []Source{{URI: "wall.png", Bytes: func() ([]byte, error) { return wall, nil }}}, Limits{}, 1)
	if err != nil {
		panic(err)
	}
	var roles Roles
	roles.Add(Role{Use: Color})
	out, err := Cook(ctx, dir, dir, staged, []Roles{roles}, Options{Mode: ModeBC, Variants: []Variant{{MaxSize: 32}}, Jobs: 1})
	if err != nil {
		panic(err)
	}
	c := out[0][0].As(Color)
	fmt.Println(c.File, c.Width, "x", c.Height, c.Levels, "levels", c.GPU, "bytes")
	// Output: wall.utex 32 x 16 6 levels 720 bytes
}

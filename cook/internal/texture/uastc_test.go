package texture

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/ktx2"
	"github.com/untoldkit/untold/internal/race"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestCookKTX2: pictures of every shape become UASTC with all levels and edges of whole
// blocks, with alpha where it counts, the same for any number of jobs.
func TestCookKTX2(t *testing.T) {
	pictures, order := odd(t)
	first := map[string]string{}
	for _, jobs := range []int{1, 3} {
		if race.Enabled && jobs == 1 {
			continue // make test compares both without the detector
		}
		from, dir, staged := kitchenOf(t, pictures, order...)
		roles := make([]Roles, len(staged))
		for i := range roles {
			roles[i] = rolesOf([]Role{{Use: Color, Alpha: AlphaBlended}, {Use: Normal}, {Use: Data}}[i%3])
		}
		out, err := Cook(t.Context(), from, dir, staged, roles, Options{
			Mode: ModeKTX2, Variants: []Variant{{}, {MaxSize: 8, Suffix: "_hlod"}}, Jobs: jobs,
		})
		if err != nil {
			t.Fatal(err)
		}
		for v := range out {
			for i := range out[v] {
				c := out[v][i].Cooked[roles[i].List()[0].Use]
				if c == nil {
					continue
				}
				data := testfile.Read(t, filepath.Join(dir, c.File))
				if was, ok := first[c.File]; ok && was != string(data) {
					t.Errorf("%s depends on the jobs", c.File)
				}
				first[c.File] = string(data)
				f, err := ktx2.Parse(data)
				if err != nil {
					t.Fatalf("%s: %v", c.File, err)
				}
				if !strings.HasSuffix(c.File, ".ktx2") || f.Width != c.Width || f.Height != c.Height || f.Levels() != c.Levels || c.Size != int64(len(data)) || c.Format != records.TextureUnknown {
					t.Errorf("%+v, in the file %d x %d, %d levels, %d bytes", c, f.Width, f.Height, f.Levels(), len(data))
				}
				if w, h := f.Size(f.Levels() - 1); (f.Width|f.Height)%4 != 0 || w != 1 || h != 1 || !f.Plain() {
					t.Errorf("%s: %d x %d, the last level has %d x %d", c.File, f.Width, f.Height, w, h)
				}
				for k := range f.Levels() {
					if err := f.Verify(k); err != nil {
						t.Errorf("%s: %v", c.File, err)
					}
				}
			}
		}
	}
	if len(first) < len(order) {
		t.Errorf("%d files of %d pictures", len(first), len(order))
	}
}

// TestEncodeOneKTX2: what is made while cooking gets edges of whole blocks too.
func TestEncodeOneKTX2(t *testing.T) {
	var b strings.Builder
	c, err := EncodeOne(&b, "atlas", photo(70, 66), Role{Use: Color}, ModeKTX2, ASTC{})
	if err != nil || c.File != "atlas.ktx2" || c.Width != 68 || c.Height != 64 || c.Levels != 7 || c.GPU < 68*64 || b.Len() == 0 {
		t.Errorf("%+v, %v", c, err)
	}
}

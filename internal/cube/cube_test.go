package cube

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/fuzzbound"
)

// lattice writes a table of an edge in which f makes the colours.
func lattice(size int, f func(c [3]float64) [3]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# a comment\nTITLE \"a look\"\nLUT_3D_SIZE %d\n\n", size)
	for i := range size * size * size {
		c := f([3]float64{float64(i%size) / float64(size-1), float64(i/size%size) / float64(size-1), float64(i/size/size) / float64(size-1)})
		fmt.Fprintf(&b, "%g %g %g\n", c[0], c[1], c[2])
	}
	return b.String()
}

func swap(c [3]float64) [3]float64 { return [3]float64{c[2], c[0], c[1]} }

func near(a, b [3]float64) bool {
	for i := range 3 {
		if math.Abs(a[i]-b[i]) > 1e-6 {
			return false
		}
	}
	return true
}

func TestParse(t *testing.T) {
	curve := "LUT_1D_SIZE 3\nDOMAIN_MIN -1 0 0\nDOMAIN_MAX 1 2 4\n0 0 0\n0.25 0.5 1\n1 1 1"
	for _, tc := range []struct {
		name, text string
		in, want   [3]float64
	}{
		{"lattice", lattice(3, swap), [3]float64{0.1, 0.5, 0.85}, [3]float64{0.85, 0.1, 0.5}},
		{"smallest", lattice(2, swap), [3]float64{0.1, 0.5, 0.85}, [3]float64{0.85, 0.1, 0.5}},
		{"beyond the domain", lattice(2, swap), [3]float64{-3, 9, math.NaN()}, [3]float64{0, 0, 1}},
		{"curve", curve, [3]float64{0, 1.5, 1}, [3]float64{0.25, 0.75, 0.5}},
		{"ends of lines", strings.ReplaceAll(curve, "\n", "\r\n"), [3]float64{0, 1.5, 1}, [3]float64{0.25, 0.75, 0.5}},
		{"old ends of lines", strings.ReplaceAll(curve, "\n", "\r"), [3]float64{0, 1.5, 1}, [3]float64{0.25, 0.75, 0.5}},
		{"mark and tabs", "\xef\xbb\xbf" + strings.ReplaceAll(curve, " ", "\t"), [3]float64{0, 1.5, 1}, [3]float64{0.25, 0.75, 0.5}},
		{"unknown keywords", "TITLE a look\nLUT_IN_VIDEO_RANGE\nBMD_TITLE \"x\"\nLUT_IN_VIDEO_RANGE\n" + curve, [3]float64{0, 1.5, 1}, [3]float64{0.25, 0.75, 0.5}},
		{"range of a lattice", "LUT_3D_INPUT_RANGE 0.0 2.0\n" + lattice(2, swap), [3]float64{0.2, 1, 1.7}, [3]float64{0.85, 0.1, 0.5}},
		{"range", "LUT_1D_SIZE 2\nLUT_1D_INPUT_RANGE 0 2\n0 0 0\n1 1 1\n", [3]float64{1, 1, 1}, [3]float64{0.5, 0.5, 0.5}},
	} {
		table, err := Parse([]byte(tc.text))
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := table.Apply(tc.in); !near(got, tc.want) {
			t.Errorf("%s: %v becomes %v, want %v", tc.name, tc.in, got, tc.want)
		}
	}
	if table, err := Parse([]byte(lattice(2, swap))); err != nil || table.Title != "a look" || table.Size != 2 || !table.Lattice {
		t.Errorf("%+v, %v", table, err)
	}
}

// TestSkipped: what is not known is named, each once, and not all of very many.
func TestSkipped(t *testing.T) {
	const end = "LUT_1D_SIZE 2\n0 0 0\n1 1 1\n"
	table, err := Parse([]byte("TITLE a look\nLUT_IN_VIDEO_RANGE\nBMD_TITLE \"x\"\nLUT_IN_VIDEO_RANGE\n" + end))
	if err != nil || table.Title != "a look" || strings.Join(table.Skipped, " ") != "LUT_IN_VIDEO_RANGE BMD_TITLE" {
		t.Errorf("%+v, %v", table, err)
	}
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, "KEY_%d 1\n", i)
	}
	if table, err = Parse([]byte(many.String() + end)); err != nil || len(table.Skipped) != maxSkipped {
		t.Errorf("%+v, %v", table, err)
	}
}

func TestRefused(t *testing.T) {
	entries := strings.Repeat("0 0 0\n", 8)
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "", "neither LUT_1D_SIZE nor LUT_3D_SIZE"},
		{"a picture", "\x89PNG\r\n\x1a\n", "line 1"},
		{"no size", entries, "line 1: \"0 0 0\" before"},
		{"too large", "LUT_3D_SIZE 66\n" + entries, "line 1: the size is \"66\": 2 to 65"},
		{"overflow", "LUT_3D_SIZE 99999999999999999999\n" + entries, "2 to 65"},
		{"one", "LUT_1D_SIZE 1\n0 0 0\n", "2 to 65536"},
		{"what the file cannot hold", "LUT_3D_SIZE 65\n" + entries, "274625 entries, but only 48 bytes"},
		{"short", "LUT_3D_SIZE 2\n0.0000000000 0 0\n" + entries[:36], "7 of the 8 entries"},
		{"long", "LUT_3D_SIZE 2\n" + entries + "0 0 0\n", "line 10: there are more"},
		{"both", "LUT_3D_SIZE 2\nLUT_1D_SIZE 2\n" + entries, "either curves or a lattice"},
		{"twice", "LUT_3D_SIZE 2\nLUT_3D_SIZE 2\n" + entries, "twice"},
		{"late", "LUT_3D_SIZE 2\n0 0 0\nTITLE \"x\"\n" + entries, "after the first entry"},
		{"unknown alone", "LUT_4D_SIZE 2\n", "neither LUT_1D_SIZE nor LUT_3D_SIZE"},
		{"no keyword", "Lut 2\n", "is no keyword"},
		{"not a number", "LUT_1D_SIZE 2\n0 0 x\n0 0 0\n", "line 2: \"x\" is no number"},
		{"NaN", "LUT_1D_SIZE 2\n0 0 nan\n0 0 0\n", "is no number"},
		{"infinite", "LUT_1D_SIZE 2\n0 0 1e99\n0 0 0\n", "is no number"},
		{"two numbers", "LUT_1D_SIZE 2\n0 0 \n0 0 0\n", "2 numbers in place of 3"},
		{"domain", "LUT_1D_SIZE 2\nDOMAIN_MIN 0 1 0\n0 0 0\n0 0 0\n", "not below its end"},
		{"long line", "# " + strings.Repeat("x", 2000) + "\n", "more than 1024 bytes"},
	} {
		_, err := Parse([]byte(tc.text))
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "look.cube")
	if err := os.WriteFile(path, []byte(lattice(2, swap)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(path); !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), path) {
		t.Error(err)
	}
	if _, err := Load(filepath.Join(dir, "none.cube")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(lattice(2, swap)))
	f.Add([]byte("LUT_1D_SIZE 2\nDOMAIN_MIN -1 -1 -1\nDOMAIN_MAX 2 2 2\n0 0 0\n1 1 1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 1 << 20, PerByte: 100}, func() {
			table, err := Parse(data)
			if err != nil {
				if !errors.Is(err, ErrFormat) {
					t.Errorf("an error of another kind: %v", err)
				}
				return
			}
			want := table.Size
			if table.Lattice {
				want *= table.Size * table.Size
			}
			if table.Size < 2 || len(table.Entries) != want {
				t.Fatalf("%d entries for a size of %d", len(table.Entries), table.Size)
			}
			for _, c := range [][3]float64{{}, {1, 1, 1}, {0.3, 0.5, 0.7}, {-1e30, 1e30, math.NaN()}} {
				for _, v := range table.Apply(c) {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Fatalf("%v becomes %v", c, table.Apply(c))
					}
				}
			}
		})
	})
}

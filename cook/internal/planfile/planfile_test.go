package planfile

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/untoldkit/untold/internal/fuzzbound"
)

// record has a value of each kind.
type record struct {
	Int   int
	Long  int64
	Yes   bool
	Text  string
	Sum   [32]byte
	List  []inner
	Bytes []byte
}

type inner struct {
	At   [2]float64
	Name string
}

func (r *record) code(c *Coder) {
	c.Int(&r.Int, -5, 5)
	c.Int64(&r.Long)
	c.Bool(&r.Yes)
	c.Text(&r.Text)
	c.Sum(&r.Sum)
	List(c, &r.List, 17, func(_ int, v *inner) {
		c.Floats(v.At[:])
		c.Text(&v.Name)
	})
	c.Bytes(&r.Bytes)
}

func section(t testing.TB, r *record) []byte {
	c := NewWriter()
	r.code(c)
	out, err := c.Section()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestCoder: what is written is read back, from a file too.
func TestCoder(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		in := record{
			Int: rapid.IntRange(-5, 5).Draw(rt, "int"), Long: rapid.Int64().Draw(rt, "long"), Yes: rapid.Bool().Draw(rt, "yes"),
			Text: rapid.String().Draw(rt, "text"), Bytes: rapid.SliceOfN(rapid.Byte(), 1, 1<<10).Draw(rt, "bytes"),
		}
		for range rapid.IntRange(0, 9).Draw(rt, "list") {
			in.List = append(in.List, inner{[2]float64{rapid.Float64().Draw(rt, "x"), 1}, "same name again and again"})
		}
		path := filepath.Join(dir, "x"+Ext)
		var b bytes.Buffer
		first := section(t, &in)
		if err := Write(&b, [][]byte{first, {}, first}); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		sections, err := Read(path)
		if err != nil || len(sections) != 3 || !bytes.Equal(sections[2], first) {
			t.Fatalf("%d, %v", len(sections), err)
		}
		c, err := Open(sections[2])
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		var out record
		if out.code(c); c.End() != nil {
			t.Fatal(c.Err())
		}
		if d := cmp.Diff(in, out); d != "" {
			t.Error(d)
		}
	})
}

// TestRepeats: what packs very well is read back although a reader does not believe it.
func TestRepeats(t *testing.T) {
	in := record{Text: "x", Bytes: make([]byte, 8<<20)}
	s := section(t, &in)
	c, err := Open(s)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var out record
	if out.code(c); c.End() != nil || !bytes.Equal(in.Bytes, out.Bytes) {
		t.Error(c.Err())
	}
	s[5] = 0xff // unpacked bytes that the section cannot hold
	if _, err := Open(s); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
}

// TestHeld: what takes much more memory than it has bytes is read back, if it was written
// so, and is refused in a file that is too small for it.
func TestHeld(t *testing.T) {
	type wide struct {
		n    int64
		_    [500]byte
		text string
	}
	code := func(c *Coder, list *[]wide) {
		List(c, list, 2, func(_ int, v *wide) {
			c.Int64(&v.n)
			c.Text(&v.text)
		})
	}
	w, in := NewWriter(), make([]wide, 20_000)
	for i := range in {
		in[i].n = int64(i)
	}
	code(w, &in)
	s, err := w.Section()
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{len(s), len(s) / 2} {
		c, err := Open(s[:n])
		if err != nil {
			t.Fatal(err)
		}
		var out []wide
		took := fuzzbound.Allocated(func() { code(c, &out) })
		if (c.End() == nil) != (n == len(s)) || c.Err() == nil && (len(out) != len(in) || out[9].n != 9) {
			t.Errorf("%d of %d bytes: %d things, %v", n, len(s), len(out), c.Err())
		}
		if c.Err() != nil && took > freelyHeld {
			t.Errorf("%d bytes are allocated before it is refused", took)
		}
		c.Close()
	}
}

// TestRefused: values out of their ranges, and what ends too early or late.
func TestRefused(t *testing.T) {
	for name, write := range map[string]func(c *Coder){
		"range": func(c *Coder) { v := 6; c.Int(&v, 0, 9) },
		"short": func(c *Coder) { v := 5; c.Int(&v, 0, 9) },
		"long":  func(c *Coder) { (&record{}).code(c); v := true; c.Bool(&v) },
		"count": func(c *Coder) {
			r := record{}
			c.Int(&r.Int, 0, 0)
			c.Int64(&r.Long)
			c.Bool(&r.Yes)
			r.Long = 1 << 60
			c.Int64(&r.Long)
		},
	} {
		w := NewWriter()
		write(w)
		s, err := w.Section()
		if err != nil {
			t.Fatal(err)
		}
		c, err := Open(s)
		if err != nil {
			t.Fatal(err)
		}
		var r record
		if r.code(c); !errors.Is(c.End(), ErrDamaged) {
			t.Errorf("%s: %v, %+v", name, c.Err(), r)
		}
		c.Close()
	}
}

// FuzzCoder: packed bytes, and those that are in them, never cost more than they may.
func FuzzCoder(f *testing.F) {
	s := section(f, &record{Int: 3, Text: "a", List: []inner{{Name: "b"}}, Bytes: []byte("cd")})
	var b bytes.Buffer
	if err := Write(&b, [][]byte{s, s}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), false)
	f.Add(s, true)
	f.Add([]byte(magic), false)
	f.Fuzz(func(t *testing.T, data []byte, one bool) {
		fuzzbound.Run(t, len(data), fuzzbound.Limits{Alloc: 64 << 20, PerByte: 1 << 14}, func() {
			sections := [][]byte{data}
			if !one {
				var err error
				if sections, err = Parse(data); err != nil && !errors.Is(err, ErrDamaged) {
					t.Error(err)
				}
			}
			for _, s := range sections {
				c, err := Open(s)
				if err != nil {
					continue
				}
				var r record
				if r.code(c); c.End() != nil && !errors.Is(c.Err(), ErrDamaged) {
					t.Error(c.Err())
				}
				c.Close()
			}
			var r record
			r.code(OpenRaw(data))
		})
	})
}

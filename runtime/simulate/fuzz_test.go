package simulate

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// FuzzParse: no text makes the parser panic, every refusal has a place in the
// text, and what is accepted can be run.
func FuzzParse(f *testing.F) {
	f.Add([]byte(sample))
	list, _ := filepath.Glob(filepath.Join(scenarios, "*.json"))
	for _, path := range list {
		data, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse(data)
		if err != nil {
			e := new(SyntaxError)
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Message == "" {
				t.Fatalf("%#v", err)
			}
			return
		}
		if s.Manifest == nil || s.Duration/s.DT > 300 || len(s.Manifest.Tiles) > 300 {
			return
		}
		r, err := Run(t.Context(), s, Options{Series: true})
		if err != nil {
			return // such as a scene that the runtime refuses
		}
		if r.Report.DoubleDrawn > 0 {
			t.Fatalf("%d tile-frames drawn twice\n%s", r.Report.DoubleDrawn, stream(r.Records))
		}
		if err := WritePlot(io.Discard, r.Series); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzCameraPath does the same for camera paths.
func FuzzCameraPath(f *testing.F) {
	f.Add([]byte(`{"camera": [{"t": 0}, {"t": 1, "position": [1, 2, 3], "mode": "linear"}], "far": 9}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParseCameraPath(data)
		if err != nil {
			if e := new(SyntaxError); !errors.As(err, &e) || e.Line < 1 {
				t.Fatalf("%#v", err)
			}
			return
		}
		for _, k := range p.Keys {
			c := p.At(k.T)
			for a := range 3 {
				if c.Position[a] != c.Position[a] || c.Forward[a] != c.Forward[a] {
					t.Fatalf("%+v", c)
				}
			}
		}
	})
}

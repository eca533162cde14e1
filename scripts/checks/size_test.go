package checks

import (
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSize: the plot over size, its table and its powers are made of a log of figures.
func TestSize(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3")
	}
	dir := t.TempDir()
	log, out := filepath.Join(dir, "size.jsonl"), filepath.Join(dir, "size.svg")
	text := `{"blocks": 2, "triangles": 1000000, "memory": "", "cpu": 2.0, "peak": 400000000}
{"blocks": 2, "triangles": 1000000, "memory": "", "cpu": 1.0, "peak": 300000000}
{"blocks": 2, "triangles": 1000000, "memory": "1GiB", "cpu": 1.0, "peak": 300000000}
{"blocks": 9, "triangles": 10000000, "memory": "", "cpu": 10.0, "peak": 600000000}
{"blocks": 9, "triangles": 10000000, "memory": "1GiB", "cpu": 12.5, "peak": 300000000}
`
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := exec.Command(python, filepath.Join("..", "size", "size.py"), "--log", log, "-o", out).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, got)
	}
	for _, want := range []string{
		"| 1,000,000 | 1.00 s, 0.30 GB | 1.00 s, 0.30 GB |",
		"| 10,000,000 | 10.00 s, 0.60 GB | 12.50 s, 0.30 GB |",
		"all memory: time grows with the power 1.00, the peak with 0.30",
		"--memory 1GiB: time grows with the power 1.10, the peak with 0.00",
	} {
		if !strings.Contains(string(got), want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	f, err := os.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	circles := 0
	for d := xml.NewDecoder(f); ; {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := tok.(xml.StartElement); ok && e.Name.Local == "circle" {
			circles++
		}
	}
	if circles != 8 {
		t.Errorf("%d points are drawn, want 8", circles)
	}
}

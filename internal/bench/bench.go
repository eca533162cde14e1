// Package bench holds what measurements of a scene say: rows of times, bytes and memory
// over several runs, the report that they make, and how two reports compare. It measures
// with the clocks that it is handed and knows neither cooks nor runtimes.
package bench

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/human"
)

// Row names what a row of a report is about.
type Row string

// The rows, in the order in which they are measured.
const (
	Cook         Row = "cook"          // into an empty folder
	CookAgain    Row = "cook_again"    // over that, without a change
	OpenManifest Row = "open_manifest" // read and checked
	OpenTile     Row = "open_tile"     // the first payload of the manifest: read, verified, decoded
	Stream       Row = "stream"        // all payloads, the same
	Simulate     Row = "simulate"      // a flight on a fake clock
)

// Rows are all of them.
var Rows = []Row{Cook, CookAgain, OpenManifest, OpenTile, Stream, Simulate}

// Work is what one run of a row went through.
type Work struct {
	Bytes     int64 // of the files that were read; of cooks: of the scene; of flights: loaded
	Triangles int64 // of cooks: that the scene draws; of flights: 0
}

// Probe measures. Its functions count from any origin.
type Probe struct {
	Now func() time.Duration // wall clock
	CPU func() time.Duration // processor time of the program; always 0 where it is not known
	// Peak forgets the most memory that was resident when forget is set, and returns it
	// otherwise, in bytes; 0 where it is not known.
	Peak func(forget bool) int64
}

// Spread is a measurement of several runs.
type Spread struct {
	Median float64 `json:"median"` // the mean of the two middle ones of an even number
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

// SpreadOf returns the spread of at least one value.
func SpreadOf(values []float64) Spread {
	v := slices.Sorted(slices.Values(values))
	k := len(v) / 2
	m := v[k]
	if len(v)%2 == 0 {
		m = float64(v[k-1]+v[k]) / 2
	}
	return Spread{Median: m, Min: v[0], Max: v[len(v)-1]}
}

// Measured is a row of a report. Rates are of the median of the wall clock; they are 0
// where nothing of the kind was gone through.
type Measured struct {
	Row                Row     `json:"row"`
	Runs               int     `json:"runs"`
	Wall               Spread  `json:"wall_s"`
	CPU                *Spread `json:"cpu_s"` // null where processor time is not known
	Bytes              int64   `json:"bytes"`
	Triangles          int64   `json:"triangles"`
	BytesPerSecond     float64 `json:"bytes_per_second"`
	TrianglesPerSecond float64 `json:"triangles_per_second"`
	PeakMemory         *Spread `json:"peak_memory_bytes"` // resident, of the whole program; null where it is not known
}

// What is short is repeated within a run until it has taken shortest, at most mostRepeats
// times: its time is then the mean, and less that of the machine's mood.
const (
	shortest    = 200 * time.Millisecond
	mostRepeats = 200
)

// Measure runs something several times and makes a row of it. Before each run it calls
// prepare, which is not measured and may be nil; what is not the same a second time, a
// Cook, is not repeated without it.
func Measure(p Probe, row Row, runs int, prepare func() error, run func() (Work, error)) (Measured, error) {
	m := Measured{Row: row, Runs: runs}
	var wall, cpu, peak []float64
	for range runs {
		if prepare != nil {
			if err := prepare(); err != nil {
				return m, err
			}
		}
		p.Peak(true)
		cpuBefore, before := p.CPU(), p.Now()
		var took, computed time.Duration
		times := 0
		for times == 0 || row != Cook && took < shortest && times < mostRepeats {
			w, err := run()
			if err != nil {
				return m, err
			}
			m.Bytes, m.Triangles = w.Bytes, w.Triangles
			took, computed = p.Now()-before, p.CPU()-cpuBefore
			times++
		}
		n := float64(times)
		wall, cpu, peak = append(wall, took.Seconds()/n), append(cpu, computed.Seconds()/n), append(peak, float64(p.Peak(false)))
	}
	m.Wall, m.CPU, m.PeakMemory = SpreadOf(wall), known(cpu), known(peak)
	if m.Wall.Median > 0 {
		m.BytesPerSecond, m.TrianglesPerSecond = float64(m.Bytes)/m.Wall.Median, float64(m.Triangles)/m.Wall.Median
	}
	return m, nil
}

// known is the spread of values of which none is 0.
func known(values []float64) *Spread {
	if s := SpreadOf(values); s.Min > 0 {
		return &s
	}
	return nil
}

// Program says what was measured, and where.
type Program struct {
	Version    string `json:"version"`
	Commit     string `json:"commit,omitempty"` // of the sources; unknown in programs that were not built from a clone
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Processors int    `json:"processors"` // that the program uses
}

// String names the program and its machine in a line.
func (p *Program) String() string {
	name := "untold " + p.Version
	if p.Commit != "" {
		name += " " + p.Commit
	}
	return fmt.Sprintf("%s, %s %s/%s, %s", name, p.Go, p.OS, p.Arch, human.Plural(p.Processors, "processor"))
}

// Scene says of what.
type Scene struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // of the file; of several, of the list that HashFiles makes
	Bytes  int64  `json:"bytes"`
	Blocks int    `json:"blocks,omitempty"` // a side, of a generated city
}

// Cooked says what the scene became.
type Cooked struct {
	SHA256    string `json:"sha256"` // of the list of its files that HashFiles makes
	Files     int    `json:"files"`
	Bytes     int64  `json:"bytes"`
	Payloads  int    `json:"payloads"`  // containers: tiles, levels, nodes of the pyramid
	Triangles int64  `json:"triangles"` // of all payloads; 0 where they were not streamed
}

// Flight is what the simulated flight needed. All but the processor time is the same on
// every machine.
type Flight struct {
	Seconds           float64 `json:"seconds"`             // simulated
	CPUMSPerS         float64 `json:"cpu_ms_per_s"`        // processor time of the program per simulated second, median; 0 where it is not known
	BytesLoaded       int64   `json:"bytes_loaded"`        // of payloads
	TextureBytesRead  int64   `json:"texture_bytes_read"`  // of textures
	PeakGeometryBytes int64   `json:"peak_geometry_bytes"` // on the GPU
	ErrorPXP50        float64 `json:"error_px_p50"`        // greatest error in view of a frame, pixels
	ErrorPXP99        float64 `json:"error_px_p99"`        // the same
	Undrawn           int     `json:"undrawn"`             // tile-frames in which what was drawn shows nothing
	TimeTo8PX         float64 `json:"time_to_8px"`         // seconds until no error in view covers more than 8 pixels, nor a texel that could be smaller
}

// Report is what a bench says.
type Report struct {
	Program  Program          `json:"program"`
	Scene    *Scene           `json:"scene"` // null of a cooked scene
	Cooked   Cooked           `json:"cooked"`
	Measured []Measured       `json:"measured"`
	Flight   *Flight          `json:"flight,omitempty"`   // where that was measured
	Compared *Comparison      `json:"compared,omitempty"` // with --compare
	Budgets  []budget.Verdict `json:"budgets,omitempty"`  // of --fail-if
}

// Find returns a row of the report, nil where it was not measured.
func (r *Report) Find(row Row) *Measured {
	for i := range r.Measured {
		if r.Measured[i].Row == row {
			return &r.Measured[i]
		}
	}
	return nil
}

// HashFiles returns the SHA-256 of a list of files, and their bytes. The list is what
// sha256sum prints for names: hash, two blanks, name, in the order of the names' bytes.
func HashFiles(fsys fs.FS, names []string) (sum string, bytes int64, err error) {
	list := sha256.New()
	for _, name := range slices.Sorted(slices.Values(names)) {
		h, n, err := hashFile(fsys, name)
		if err != nil {
			return "", 0, err
		}
		bytes += n
		fmt.Fprintf(list, "%s  %s\n", h, name)
	}
	return hex.EncodeToString(list.Sum(nil)), bytes, nil
}

func hashFile(fsys fs.FS, name string) (sum string, n int64, err error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	h := sha256.New()
	n, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// HashFolder is HashFiles of all files of a folder and those below it but those whose
// path has a part that begins with a dot, and how many there are.
func HashFolder(dir string) (sum string, files int, bytes int64, err error) {
	var names []string
	fsys := os.DirFS(dir)
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != "." && path.Base(name)[0] == '.':
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Type().IsRegular():
			names = append(names, name)
		}
		return nil
	})
	if err != nil {
		return "", 0, 0, err
	}
	sum, bytes, err = HashFiles(fsys, names)
	return sum, len(names), bytes, err
}

// SceneOf hashes the files of a scene, of which the first is the scene itself, under
// their last names.
func SceneOf(name string, files []string) (*Scene, error) {
	if len(files) == 1 {
		h, n, err := hashFile(os.DirFS(filepath.Dir(files[0])), filepath.Base(files[0]))
		return &Scene{Name: name, SHA256: h, Bytes: n}, err
	}
	list := sha256.New()
	s := &Scene{Name: name}
	lines := make([]string, 0, len(files))
	for _, f := range files {
		h, n, err := hashFile(os.DirFS(filepath.Dir(f)), filepath.Base(f))
		if err != nil {
			return nil, err
		}
		s.Bytes += n
		lines = append(lines, fmt.Sprintf("%s  %s\n", h, filepath.Base(f)))
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(a[64:]+a, b[64:]+b) })
	for _, l := range lines {
		io.WriteString(list, l)
	}
	s.SHA256 = hex.EncodeToString(list.Sum(nil))
	return s, nil
}

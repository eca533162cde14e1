// Package cube reads colour tables from .cube files (Adobe Cube LUT Specification
// 1.0): a curve for each channel, or a lattice of colours.
package cube

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/internal/human"
)

// Limits of what is read.
const (
	MaxEdge  = 65      // of a lattice
	MaxCurve = 65536   // entries of a curve
	MaxBytes = 1 << 24 // of a file
	maxLine  = 1024    // bytes
	// maxSkipped is how many keywords are named that are not known.
	maxSkipped = 8
	// maxValue bounds colours and domains: what is beyond is no colour, and single
	// precision still holds differences of such numbers.
	maxValue = 1e9
	// leastEntry is how many bytes an entry takes at least, with its end of line.
	leastEntry = 6
)

// ErrFormat is matched by every error about what a file holds.
var ErrFormat = errors.New("no .cube table")

// Table is a colour table.
type Table struct {
	Title string
	// Skipped are keywords that are not known, as they stand, up to maxSkipped of them.
	Skipped []string
	// Size is how many entries a curve has, or the edge of the lattice.
	Size int
	// Lattice says that Entries has Size^3 colours, red running fastest and blue
	// slowest; else it has Size, a curve for each channel.
	Lattice bool
	// Min and Max are the colours of the first and the last entry; in between entries
	// lie at equal distances.
	Min, Max [3]float32
	Entries  [][3]float32
}

// Load reads a file.
func Load(path string) (*Table, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := ReadAll(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	t, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// ReadAll reads what a file may hold.
func ReadAll(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("cube: %w: more than %d bytes", ErrFormat, MaxBytes)
	}
	return data, nil
}

// Parse reads the bytes of a file.
func Parse(data []byte) (*Table, error) {
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("cube: %w: more than %d bytes", ErrFormat, MaxBytes)
	}
	p := parser{rest: bom.Trim(data), t: Table{Max: [3]float32{1, 1, 1}}}
	if err := p.parse(); err != nil {
		return nil, err
	}
	return &p.t, nil
}

type parser struct {
	rest  []byte
	line  int // number of the last line
	t     Table
	seen  map[string]bool // keywords
	wants int             // entries
}

func (p *parser) wrong(format string, args ...any) error {
	return fmt.Errorf("cube: %w: line %d: %s", ErrFormat, p.line, fmt.Sprintf(format, args...))
}

// next returns the next line that says anything, without spaces around it.
func (p *parser) next() (line string, ok bool, err error) {
	for len(p.rest) > 0 {
		p.line++
		end := bytes.IndexAny(p.rest, "\r\n")
		text := p.rest
		if end < 0 {
			p.rest = nil
		} else {
			text = p.rest[:end]
			n := 1
			if bytes.HasPrefix(p.rest[end:], []byte("\r\n")) {
				n = 2
			}
			p.rest = p.rest[end+n:]
		}
		if len(text) > maxLine {
			return "", false, p.wrong("it has more than %d bytes", maxLine)
		}
		if text = bytes.TrimSpace(text); len(text) > 0 && text[0] != '#' {
			return string(text), true, nil
		}
	}
	return "", false, nil
}

func (p *parser) parse() error {
	p.seen = map[string]bool{}
	for {
		line, ok, err := p.next()
		if err != nil {
			return err
		}
		switch {
		case !ok && p.wants == 0:
			return fmt.Errorf("cube: %w: it has neither LUT_1D_SIZE nor LUT_3D_SIZE", ErrFormat)
		case !ok && len(p.t.Entries) < p.wants:
			return fmt.Errorf("cube: %w: it has %d of the %d entries that its size asks for", ErrFormat, len(p.t.Entries), p.wants)
		case !ok:
			return nil
		case line[0] >= 'A' && line[0] <= 'Z':
			err = p.keyword(line)
		default:
			err = p.entry(line)
		}
		if err != nil {
			return err
		}
	}
}

// keyword reads a line that begins with one.
func (p *parser) keyword(line string) error {
	name, rest, _ := strings.Cut(strings.ReplaceAll(line, "\t", " "), " ")
	rest = strings.TrimSpace(rest)
	if strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") != "" {
		return p.wrong("%q is no keyword", human.Clip(name, 40))
	}
	switch {
	case len(p.t.Entries) > 0:
		return p.wrong("%s after the first entry", human.Clip(name, 40))
	case p.seen[name]:
		return p.wrong("%s comes twice", name)
	}
	switch name {
	case "TITLE", "LUT_1D_SIZE", "LUT_3D_SIZE", "DOMAIN_MIN", "DOMAIN_MAX", "LUT_1D_INPUT_RANGE", "LUT_3D_INPUT_RANGE":
		p.seen[name] = true
	default: // programs add their own
		if name = human.Clip(name, 40); len(p.t.Skipped) < maxSkipped && !slices.Contains(p.t.Skipped, name) {
			p.t.Skipped = append(p.t.Skipped, name)
		}
		return nil
	}
	switch name {
	case "TITLE":
		if len(rest) >= 2 && rest[0] == '"' && rest[len(rest)-1] == '"' { // some leave them out
			rest = rest[1 : len(rest)-1]
		}
		p.t.Title = strings.ToValidUTF8(rest, "\ufffd")
		return nil
	case "LUT_1D_SIZE":
		return p.size(rest, MaxCurve, 1)
	case "LUT_3D_SIZE":
		p.t.Lattice = true
		return p.size(rest, MaxEdge, 3)
	case "DOMAIN_MIN":
		return p.numbers(rest, p.t.Min[:])
	case "DOMAIN_MAX":
		return p.numbers(rest, p.t.Max[:])
	}
	var both [2]float32 // of all channels, as other programs write them
	if err := p.numbers(rest, both[:]); err != nil {
		return err
	}
	for i := range 3 {
		p.t.Min[i], p.t.Max[i] = both[0], both[1]
	}
	return nil
}

// size reads the size, and takes memory once the file is known to be long enough.
func (p *parser) size(text string, most, power int) error {
	if p.wants > 0 {
		return p.wrong("a table is either curves or a lattice: of both, remove one")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 2 || n > most {
		return p.wrong("the size is %q: 2 to %d can be read; sample the table anew, 33 is a usual size", human.Clip(text, 40), most)
	}
	p.t.Size, p.wants = n, n
	if power == 3 {
		p.wants = n * n * n
	}
	if len(p.rest)+1 < leastEntry*p.wants {
		return p.wrong("a size of %d asks for %d entries, but only %d bytes follow", n, p.wants, len(p.rest))
	}
	p.t.Entries = make([][3]float32, 0, p.wants)
	return nil
}

// numbers reads so many numbers and no more.
func (p *parser) numbers(text string, out []float32) error {
	fields := strings.Fields(text)
	if len(fields) != len(out) {
		return p.wrong("%d numbers in place of %d", len(fields), len(out))
	}
	for i, f := range fields {
		v, err := strconv.ParseFloat(f, 32)
		if err != nil || math.IsNaN(v) || math.Abs(v) > maxValue {
			return p.wrong("%q is no number from -%g to %g", human.Clip(f, 40), maxValue, maxValue)
		}
		out[i] = float32(v)
	}
	return nil
}

// entry reads a colour.
func (p *parser) entry(line string) error {
	if p.wants == 0 {
		return p.wrong("%q before LUT_1D_SIZE or LUT_3D_SIZE", human.Clip(line, 40))
	}
	if len(p.t.Entries) == p.wants {
		return p.wrong("there are more entries than the %d that the size asks for", p.wants)
	}
	if len(p.t.Entries) == 0 {
		for i := range 3 {
			if !(p.t.Min[i] < p.t.Max[i]) {
				return p.wrong("the domain begins at %v, which is not below its end, %v", p.t.Min[i], p.t.Max[i])
			}
		}
	}
	var c [3]float32
	if err := p.numbers(line, c[:]); err != nil {
		return err
	}
	p.t.Entries = append(p.t.Entries, c)
	return nil
}

package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// sizes is what docs/performance.md says of cooks of growing scenes.
type sizes struct {
	settings []string
	rows     []sizeRow
}

// sizeRow is a scene: seconds of processors and peak memory in GB at each setting.
type sizeRow struct {
	triangles  float64
	time, peak []float64
}

var (
	sizeHead  = regexp.MustCompile(`^\| drawn triangles \| (.*) \|$`)
	sizeCount = regexp.MustCompile(`^([0-9.]+) (thousand|million)$`)
	sizeCell  = regexp.MustCompile(`^([0-9.]+) s, ([0-9.]+) GB$`)
)

// readSizes reads the table of docs/performance.md.
func readSizes(page []byte) (*sizes, error) {
	var s *sizes
	for number, line := range strings.Split(string(page), "\n") {
		if m := sizeHead.FindStringSubmatch(line); m != nil {
			s = &sizes{settings: strings.Split(strings.ReplaceAll(m[1], "`", ""), " | ")}
			continue
		}
		if s == nil || strings.HasPrefix(line, "|---") {
			continue
		}
		if !strings.HasPrefix(line, "|") {
			break
		}
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		count := sizeCount.FindStringSubmatch(cells[0])
		if count == nil || len(cells) != 1+len(s.settings) {
			return nil, fmt.Errorf("line %d: %q is no row of sizes", number+1, line)
		}
		r := sizeRow{triangles: number64(count[1]) * map[string]float64{"thousand": 1e3, "million": 1e6}[count[2]]}
		for _, c := range cells[1:] {
			m := sizeCell.FindStringSubmatch(c)
			if m == nil {
				return nil, fmt.Errorf("line %d: %q is not SECONDS s, PEAK GB", number+1, c)
			}
			r.time, r.peak = append(r.time, number64(m[1])), append(r.peak, number64(m[2]))
		}
		s.rows = append(s.rows, r)
	}
	if s == nil || len(s.rows) < 2 {
		return nil, errors.New("there is no table of drawn triangles")
	}
	return s, nil
}

// number64 reads what an expression has found to be a number; 0 where it is none.
func number64(s string) float64 {
	v, _ := strconv.ParseFloat(s, 64)
	return v
}

// plot draws both figures over the triangles.
func (s *sizes) plot() []byte {
	var b bytes.Buffer
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 380" font-family="sans-serif" font-size="12">` + "\n")
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	decade := func(v float64) float64 { return math.Log10(v) }
	s.axes(&b, 70, "seconds of processors", decade, -2, 3, 1, func(v float64) string { return strconv.FormatFloat(math.Pow(10, v), 'g', -1, 64) },
		func(r *sizeRow, k int) float64 { return r.time[k] })
	s.axes(&b, 440, "peak memory, GB", func(v float64) float64 { return v }, 0, 1, 0.25, func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) },
		func(r *sizeRow, k int) float64 { return r.peak[k] })
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// sizeColors are those of the settings.
var sizeColors = []string{"#1f6fb2", "#c4570e", "#2a8a3e"}

// axes draws one figure, from low to high on a scale with lines every step, over 10^4 to 10^8
// triangles.
func (s *sizes) axes(b *bytes.Buffer, left float64, title string, scale func(float64) float64, low, high, step float64, label func(float64) string, figure func(*sizeRow, int) float64) {
	const width, top, height = 290, 50, 270
	const first, last = 4, 8 // powers of ten of the triangles
	x := func(triangles float64) float64 {
		return left + float64(width*(math.Log10(triangles)-first)/(last-first))
	}
	y := func(v float64) float64 { return top + float64(height*(high-v)/(high-low)) }
	fmt.Fprintf(b, `<text x="%.1f" y="24" text-anchor="middle" fill="#333">%s</text>`+"\n", left+width/2, title)
	for power := first; power <= last; power++ {
		at := left + float64(width*(power-first))/(last-first)
		fmt.Fprintf(b, `<path d="M%.1f,%dV%d" stroke="#eee"/>`+"\n", at, top, top+height)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#333">10<tspan dy="-4" font-size="9">%d</tspan></text>`+"\n", at, top+height+18, power)
	}
	for v := low; v <= high; v += step {
		fmt.Fprintf(b, `<path d="M%.1f,%.1fh%d" stroke="#eee"/>`+"\n", left, y(v), width)
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="end" fill="#333">%s</text>`+"\n", left-8, y(v)+4, label(v))
	}
	fmt.Fprintf(b, `<path d="M%.1f,%dv%dh%d" fill="none" stroke="#999"/>`+"\n", left, top, height, width)
	fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#333">drawn triangles</text>`+"\n", left+width/2, top+height+40)
	for k, setting := range s.settings {
		color := sizeColors[k%len(sizeColors)]
		var points []string
		for i := range s.rows {
			points = append(points, fmt.Sprintf("%.1f,%.1f", x(s.rows[i].triangles), y(scale(figure(&s.rows[i], k)))))
		}
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="2" points="%s"/>`+"\n", color, strings.Join(points, " "))
		for _, p := range points {
			at := strings.Split(p, ",")
			fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="3" fill="%s"/>`+"\n", at[0], at[1], color)
		}
		fmt.Fprintf(b, `<text x="%.1f" y="%d" fill="%s">%s</text>`+"\n", left+8, top+14+16*k, color, setting)
	}
}

// size draws what docs/performance.md says of cooks of growing scenes.
func (s *studio) size(out string) error {
	page := filepath.Join("docs", "performance.md")
	data, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	table, err := readSizes(data)
	if err != nil {
		return fmt.Errorf("%s: %w", page, err)
	}
	return os.WriteFile(filepath.Join(out, "size.svg"), table.plot(), 0o644)
}

package budget

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/internal/human"
)

// Unit is what a figure is measured in.
type Unit string

// The units of figures.
const (
	Count        Unit = "count"
	Bytes        Unit = "bytes"
	Milliseconds Unit = "ms"
	Seconds      Unit = "s"
	Metres       Unit = "m"
	Pixels       Unit = "px"
	Share        Unit = "share" // 0 to 1
	Ratio        Unit = "ratio" // any other number without a unit
)

// suffix is a unit that a number may be written with, and what it is in the figure's.
type suffix struct {
	name  string
	times float64
}

// suffixes of the numbers for each unit, the longer before those that they end in.
// Letters alone are decimal, as in all of this program.
var suffixes = map[Unit][]suffix{
	Bytes: {
		{"KiB", 1 << 10},
		{"MiB", 1 << 20},
		{"GiB", 1 << 30},
		{"kB", 1e3},
		{"KB", 1e3},
		{"MB", 1e6},
		{"GB", 1e9},
		{"B", 1},
		{"k", 1e3},
		{"K", 1e3},
		{"M", 1e6},
		{"G", 1e9},
	},
	Count:        {{"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"G", 1e9}},
	Milliseconds: {{"ms", 1}, {"us", 1e-3}, {"s", 1e3}},
	Seconds:      {{"ms", 1e-3}, {"s", 1}, {"min", 60}},
	Metres:       {{"km", 1e3}, {"mm", 1e-3}, {"cm", 1e-2}, {"m", 1}},
	Pixels:       {{"px", 1}},
	Share:        {{"%", 0.01}},
}

// Suffixes lists the units that a number of a figure may be written with.
func Suffixes(u Unit) []string {
	var names []string
	for _, s := range suffixes[u] {
		names = append(names, s.name)
	}
	return names
}

// ParseNumber reads a number with an optional suffix of a unit: 200k and 1.5MiB of
// bytes, 50k of counts, 20ms of times, 1% of shares, 2px, 1.2km. It is in the unit then.
func ParseNumber(text string, u Unit) (float64, error) {
	number, times := text, 1.0
	for _, s := range suffixes[u] {
		if rest, ok := strings.CutSuffix(text, s.name); ok {
			number, times = strings.TrimSpace(rest), s.times
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	v *= times
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) || strings.ContainsAny(number, "xX_") {
		hint := ""
		if names := Suffixes(u); len(names) > 0 {
			hint = fmt.Sprintf("; it is in %s, and may have %s", u, list(names, "or"))
		}
		return 0, fmt.Errorf("%q is no number%s", text, hint)
	}
	return v, nil
}

// Text writes a figure with its unit for people.
func Text(v float64, u Unit) string {
	number := strconv.FormatFloat(v, 'g', 6, 64)
	whole := v == math.Trunc(v) && math.Abs(v) < 1<<53
	switch {
	case u == Bytes && whole:
		return human.Bytes(int64(v))
	case u == Metres && v >= 0:
		return human.Distance(v)
	case u == Milliseconds || u == Seconds || u == Pixels || u == Metres:
		return number + " " + string(u)
	case whole:
		return human.Count(int64(v))
	}
	return number
}

// list joins words with commas and a last word.
func list(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/untoldkit/untold/internal/astc"
)

// tables print what was measured, as Markdown.
type tables struct {
	o       options
	list    []*sample
	results map[key]float64
	speeds  map[string]float64
}

func (t tables) print(w io.Writer) {
	for _, f := range t.o.footprints {
		if f != (astc.Footprint{Width: 4, Height: 4}) {
			continue
		}
		fmt.Fprintf(w, "ASTC of %v, PSNR in dB\n\n", f)
		t.rows(w, func(s *sample) bool { return s.kind != grays },
			[]string{oursASTC(f, astc.Fast), astcencOf(f, astc.Fast), oursASTC(f, astc.High), astcencOf(f, astc.High)}, [][2]int{{0, 1}, {2, 3}})
	}
	if len(t.o.footprints) > 0 {
		t.summary(w)
	}
	fmt.Fprint(w, "\nBC7, PSNR in dB\n\n")
	t.rows(w, func(s *sample) bool { return s.kind != normals }, []string{oursBC, oursBCHigh, bc7eBasic, bc7eSlowest}, [][2]int{{0, 2}, {1, 2}, {1, 3}})
	fmt.Fprint(w, "\nBC5, PSNR in dB\n\n")
	t.rows(w, func(s *sample) bool { return s.kind == normals }, []string{oursBC, oursBCHigh, bestBC5}, [][2]int{{0, 2}, {1, 2}})
	fmt.Fprint(w, "\nUASTC and what becomes of it, PSNR in dB\n\n")
	t.rows(w, func(s *sample) bool { return s.kind != normals }, []string{oursUASTC, transcoded, bc7eOfUASTC}, [][2]int{{1, 0}, {1, 2}})
}

// rows prints a line for each sample, and then means by kind; pairs are columns whose
// difference is shown.
func (t tables) rows(w io.Writer, which func(*sample) bool, coders []string, pairs [][2]int) {
	var have []string
	at := make([]int, len(coders))
	for i, c := range coders {
		at[i] = -1
		for k := range t.results {
			if k.coder == c {
				at[i] = len(have)
				have = append(have, c)
				break
			}
		}
	}
	if len(have) == 0 {
		return // -coders leaves them out
	}
	var shown [][2]int
	for _, p := range pairs {
		if a, b := at[p[0]], at[p[1]]; a >= 0 && b >= 0 {
			shown = append(shown, [2]int{a, b})
		}
	}
	fmt.Fprintf(w, "| texture | kind | %s |", strings.Join(have, " | "))
	for _, p := range shown {
		fmt.Fprintf(w, " %s - %s |", have[p[0]], have[p[1]])
	}
	fmt.Fprintf(w, "\n|%s\n", strings.Repeat("---|", 2+len(have)+len(shown)))
	sums := map[kind]*total{}
	for _, s := range t.list {
		if !which(s) {
			continue
		}
		fmt.Fprintf(w, "| %s | %s |", s.name, s.kind)
		values := make([]float64, len(have))
		for i, c := range have {
			values[i] = t.results[key{s, c}]
			fmt.Fprintf(w, " %.2f |", values[i])
		}
		if sums[s.kind] == nil {
			sums[s.kind] = newTotal(len(have), len(shown))
		}
		for i, p := range shown {
			d := values[p[0]] - values[p[1]]
			fmt.Fprintf(w, " %+.2f |", d)
			sums[s.kind].differ[i].add(d)
		}
		for i, v := range values {
			sums[s.kind].values[i].add(v)
		}
		fmt.Fprintln(w)
	}
	for _, k := range []kind{colors, alphas, normals, data, grays} {
		x := sums[k]
		if x == nil {
			continue
		}
		fmt.Fprintf(w, "| mean of %d | %s |", x.values[0].n, k)
		for _, v := range x.values {
			fmt.Fprintf(w, " %.2f |", v.mean())
		}
		for _, d := range x.differ {
			fmt.Fprintf(w, " %+.2f, least %+.2f |", d.mean(), d.least)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprint(w, "| Mpix/s | one core |")
	for _, c := range have {
		fmt.Fprintf(w, " %s |", t.speed(c))
	}
	fmt.Fprintf(w, "%s\n\n", strings.Repeat(" |", len(shown)))
}

// summary prints a line for each size of blocks and quality of ASTC.
func (t tables) summary(w io.Writer) {
	fmt.Fprint(w, "ASTC, differences from astcenc in dB: mean, least\n\n")
	fmt.Fprintln(w, "| blocks, `--texture-quality` | against | all | colours | normal maps | data | Mpix/s | astcenc, Mpix/s |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	for _, q := range []astc.Quality{astc.Fast, astc.High} {
		for _, f := range t.o.footprints {
			ours, theirs := oursASTC(f, q), astcencOf(f, q)
			all, by := mean{least: 99}, map[kind]*mean{colors: {least: 99}, normals: {least: 99}, data: {least: 99}}
			for _, s := range t.list {
				k := s.kind
				if k == alphas {
					k = colors
				}
				b, ok := t.results[key{s, theirs}]
				if !ok || by[k] == nil {
					continue
				}
				d := t.results[key{s, ours}] - b
				all.add(d)
				by[k].add(d)
			}
			fmt.Fprintf(w, "| %v `%s` | `%s` |", f, quality[q], preset[q])
			for _, m := range []*mean{&all, by[colors], by[normals], by[data]} {
				if m.n == 0 { // there is no astcenc, or no such texture
					fmt.Fprint(w, " |")
					continue
				}
				fmt.Fprintf(w, " %+.2f, %+.2f |", m.mean(), m.least)
			}
			fmt.Fprintf(w, " %s | %s |\n", t.speed(ours), t.speed(theirs))
		}
	}
	fmt.Fprintln(w)
}

// speed is what a coder reaches, in megapixels a second; nothing where it was not measured.
func (t tables) speed(coder string) string {
	if v, ok := t.speeds[coder]; ok {
		return fmt.Sprintf("%.2f", v)
	}
	return ""
}

// mean is one of numbers, and the least of them.
type mean struct {
	n          int
	sum, least float64
}

func (m *mean) add(v float64) {
	if m.n == 0 || v < m.least {
		m.least = v
	}
	m.n++
	m.sum += v
}

func (m *mean) mean() float64 { return m.sum / float64(max(m.n, 1)) }

// total is the means of columns.
type total struct{ values, differ []mean }

func newTotal(values, differ int) *total {
	return &total{make([]mean, values), make([]mean, differ)}
}

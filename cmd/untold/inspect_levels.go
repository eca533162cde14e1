package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/levelcheck"
	"github.com/untoldkit/untold/internal/human"
)

// inspectLevels shows what the levels of a scene keep of its full tiles.
func inspectLevels(ctx context.Context, a *app, file string, f *inspectFlags) error {
	list, err := levelcheck.Check(ctx, file, levelcheck.Options{Look: f.look})
	switch {
	case err != nil:
		return asInputError(err)
	case f.asJSON && list == nil:
		return writeJSON(a.stdout, []levelcheck.Level{})
	case f.asJSON:
		return writeJSON(a.stdout, list)
	case len(list) == 0:
		fmt.Fprintln(a.stdout, "no tile has levels")
		return nil
	}
	header := []string{"tile", "level", ">triangles", ">of full", ">begins", ">visual error", ">pixels", ">greatest", ">quads", ">half"}
	if f.look {
		header = append(header, ">flip", ">colour", ">covered")
	}
	t := newTable(f.limit, header...)
	for i := range list {
		l := &list[i]
		row := []any{
			l.Tile, levelName(l.Path), human.Count(l.Triangles), percentText(float64(l.Triangles) / float64(max(l.FullTriangles, 1))),
			human.Distance(l.Begins), errorText(l.VisualError), fmt.Sprintf("%.2f", l.Pixels), errorText(l.GeometricError), human.Count(l.Quads), l.HalfQuads,
		}
		if l.Look != nil {
			row = append(row, fmt.Sprintf("%.4f", l.Look.FLIP), fmt.Sprintf("%.1f", l.Look.Drift), percentText(l.Look.Coverage))
		}
		t.add(row...)
	}
	t.print(a.stdout)
	sumUpLevels(a.stdout, list)
	return nil
}

// levelName returns what the file of a level is called behind its tile's name.
func levelName(file string) string {
	name := strings.TrimSuffix(path.Base(file), path.Ext(file))
	return name[strings.LastIndexByte(name, '_')+1:]
}

func errorText(e *float64) string {
	if e == nil {
		return "-"
	}
	return fmt.Sprintf("%.3g m", *e)
}

func percentText(part float64) string { return fmt.Sprintf("%.1f %%", 100*part) }

// sumUpLevels prints the figures of all levels together.
func sumUpLevels(w io.Writer, list []levelcheck.Level) {
	of := func(name, format string, value func(l *levelcheck.Level) float64) {
		v := make([]float64, len(list))
		for i := range list {
			v[i] = value(&list[i])
		}
		slices.Sort(v)
		at := func(q float64) float64 { return v[min(int(q*float64(len(v))), len(v)-1)] }
		fmt.Fprintf(w, "  %-36s median "+format+", 95 %% within "+format+", greatest "+format+"\n", name, at(0.5), at(0.95), v[len(v)-1])
	}
	quads, half, within := 0, 0, 0
	for i := range list {
		quads += list[i].Quads
		half += list[i].HalfQuads
		if list[i].Pixels <= 2.005 { // distances have two decimals
			within++
		}
	}
	fmt.Fprintf(w, "\n%d levels, %d of them within 2 pixels of error where they begin; of %s quads in them %d are halves\n",
		len(list), within, human.Count(quads), half)
	of("pixels of error where they begin", "%.2f", func(l *levelcheck.Level) float64 { return l.Pixels })
	if list[0].Look != nil {
		of("FLIP there", "%.4f", func(l *levelcheck.Level) float64 { return l.Look.FLIP })
		of("drift of the mean colour, of 255", "%.2f", func(l *levelcheck.Level) float64 { return l.Look.Drift })
		of("covered area more or less, %", "%.1f", func(l *levelcheck.Level) float64 { return 100 * max(l.Look.Coverage-1, 1-l.Look.Coverage) })
	}
	worst := slices.MaxFunc(list, func(a, b levelcheck.Level) int { return cmp.Compare(a.Pixels, b.Pixels) })
	fmt.Fprintf(w, "  the greatest error is that of %s\n", oneLine(worst.Path))
}

// checkLevels refuses what does not go with --levels.
func (f *inspectFlags) checkLevels(remote bool) error {
	switch {
	case f.look && !f.levels:
		return errors.New("--look goes with --levels")
	case f.levels && remote:
		return errors.New("--levels reads all files of a scene: download it, then inspect the copy")
	case f.levels && f.plan.file != "":
		return errors.New("--levels and --map exclude each other")
	}
	return nil
}

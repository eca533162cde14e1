package main

import (
	"fmt"
	"strings"

	"github.com/untoldkit/untold/internal/human"
)

// print tells the story for people.
func (s *tileStory) print(a *app) error {
	w := a.stdout
	what := "tile"
	switch {
	case s.Shared:
		what = "shared bucket"
	case s.Tier != "":
		what = "tile of the tier " + s.Tier
	}
	fmt.Fprintf(w, "%s: a %s with %s, box %s .. %s\n", oneLine(s.Tile), what, human.Plural(s.Objects, "object"), vec64(s.Bounds.Min), vec64(s.Bounds.Max))
	fmt.Fprintf(w, "  wanted in full within %s of its box, fetched within %s, gone beyond %s\n", orAny(s.Wanted), orAny(s.Prefetch), orAny(s.Unload))
	order := "none has a higher one"
	if s.Ahead > 0 {
		order = human.Plural(s.Ahead, "tile") + " with a higher one are loaded before it"
		if s.Ahead == 1 {
			order = "1 tile with a higher one is loaded before it"
		}
	}
	fmt.Fprintf(w, "  priority %d: %s; of equal ones the larger on the screen goes first, then the nearer\n", s.Priority, order)
	if s.Interior {
		fmt.Fprintln(w, "  wanted only while the camera is inside the interior zone")
	}
	fmt.Fprintln(w)
	t := newTable(0, "shown", ">from", ">to", ">triangles", ">file", ">on the GPU", ">textures", ">error px")
	for i := range s.Shows {
		r := &s.Shows[i]
		from, to := human.Distance(r.From), orAny(r.To)
		if r.Never {
			from, to = "never", "-"
		}
		gpu, px := "?", "-"
		if r.GPUBytes != nil {
			gpu = human.Bytes(*r.GPUBytes)
		}
		if r.Pixels != nil {
			px = fmt.Sprintf("%.3g", *r.Pixels)
		}
		t.add(r.Name, from, to, human.Count(r.Triangles), human.Bytes(r.Bytes), gpu, r.Textures, px)
	}
	t.print(w)
	if len(s.Nodes) > 0 {
		fmt.Fprintln(w)
		t := newTable(0, "node above", ">level", ">beyond", ">instead of", ">triangles", ">file", ">on the GPU")
		for _, n := range s.Nodes {
			t.add(n.ID, n.Level, human.Distance(n.Beyond), human.Plural(n.Tiles, "tile"), human.Count(n.Triangles), human.Bytes(n.Bytes), human.Bytes(n.GPUBytes))
		}
		t.print(w)
	}
	if len(s.Textures) > 0 {
		fmt.Fprintln(w)
		t := newTable(0, "texture", ">file", "also in")
		for _, x := range s.Textures {
			others := "no other tile"
			if n := len(x.Others); n > 3 {
				others = fmt.Sprintf("%s and %d more", strings.Join(x.Others[:3], ", "), n-3)
			} else if n > 0 {
				others = strings.Join(x.Others, ", ")
			}
			t.add(x.URI, human.Bytes(x.Bytes), others)
		}
		t.print(w)
	}
	if c := s.Camera; c != nil {
		shown := "nothing of it"
		if c.Shows != "" {
			shown = c.Shows
		}
		fmt.Fprintf(w, "\nfrom %s, %s away: %s\n", vec64(c.Position), human.Distance(c.Distance), oneLine(shown))
	}
	return nil
}

func vec64(v [3]float64) string { return fmt.Sprintf("(%.6g, %.6g, %.6g)", v[0], v[1], v[2]) }

// orAny is a distance, of which nil is none that ends.
func orAny(v *float64) string {
	if v == nil {
		return "any distance"
	}
	return human.Distance(*v)
}

// Command pictures takes every picture of docs/images again: generated scenes, cooked and
// drawn without a window by untold preview, and for some beside other programs.
//
//	make pictures                                   # all that take minutes
//	go run ./scripts/pictures -only tuning -o out   # some of them, elsewhere
//	go run ./scripts/pictures -list                 # which picture is made by what
//
// It needs bin/untold with its preview (make build) and OpenGL, also without a GPU. What takes
// much more time, or other programs, is left to -all or -only, and -list says why. A test holds
// the list and docs/images together.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "`names` of recipes, with commas (default: all that take minutes)")
	flag.BoolVar(&o.all, "all", false, "also those that take much more time")
	flag.BoolVar(&o.list, "list", false, "say which picture is made by what, and take none")
	flag.StringVar(&o.out, "o", filepath.Join("docs", "images"), "`folder` of the pictures")
	flag.StringVar(&o.program, "untold", filepath.Join("bin", "untold"), "the `program`, with its preview")
	flag.StringVar(&o.keep, "keep", "", "`folder` in which cooked scenes are kept and found again (default: one that goes)")
	flag.IntVar(&o.horizon, "horizon", 3000, "side of the city that is drawn to the horizon, in `metres`")
	flag.StringVar(&o.assets, "assets", filepath.Join("..", "shared", "assets"), "`folder` of the models and kits of 3dtiles.jpg and preview.png")
	flag.Parse()
	if err := run(os.Stdout, &o); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

type options struct {
	only, out, program, keep, assets string
	all, list                        bool
	horizon                          int
}

// recipe makes some pictures that belong together.
type recipe struct {
	name  string
	files []string
	// apart says why it is not taken without being asked for; "" for what always is.
	apart string
	take  func(s *studio, out string) error
}

// inBrowsers is why pictures that viewers draw in browsers are taken apart.
const inBrowsers = "needs node, npm and Chromium, which draws for minutes without a GPU (scripts/viewers3d)"

var recipes = []recipe{
	{"demo", []string{"demo.jpg"}, "", (*studio).demo},
	{"tuning", tuningFiles(), "", (*studio).tuning},
	{"levels", []string{"levels.jpg"}, "", (*studio).levels},
	{"switches", []string{"switches.jpg"}, "", (*studio).switches},
	{"pyramid", []string{"pyramid.jpg"}, "", (*studio).pyramid},
	{"forest", []string{"forest.jpg"}, "", (*studio).forest},
	{"horizon", []string{"horizon.jpg"}, "a city of 3 km, whose cook takes half an hour of processor time and 4 GB; -horizon METRES for another one", (*studio).horizon},
	{"tune", []string{"tune.svg"}, "eight cooks of a city of 1 km", (*studio).tune},
	{"size", []string{"size.svg"}, "", (*studio).size},
	// Beside other programs, each with its own way to the same camera.
	{"preview", []string{"preview.png"}, "needs Blender, which traces paths for minutes", (*studio).besideBlender},
	{"3dtiles", []string{"3dtiles.jpg"}, inBrowsers, (*studio).tiles3d},
	{"web-three", []string{"web-three.jpg"}, inBrowsers, (*studio).webThree},
}

func run(log io.Writer, o *options) error {
	if o.list {
		return list(log)
	}
	taken, err := choose(o)
	if err != nil {
		return err
	}
	s, err := newStudio(log, o)
	if err != nil {
		return err
	}
	defer s.close()
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	return takeAll(s, o, taken)
}

// takeAll takes pictures. What needs a program that is not there is left out, unless it was
// asked for by its name.
func takeAll(s *studio, o *options, taken []recipe) error {
	for _, r := range taken {
		err := r.take(s, o.out)
		if errors.Is(err, exec.ErrNotFound) && o.only == "" {
			fmt.Fprintf(s.log, "%s is left out: %v\n", r.name, err)
		} else if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

// choose returns the recipes that are asked for.
func choose(o *options) ([]recipe, error) {
	wanted := strings.FieldsFunc(o.only, func(r rune) bool { return r == ',' })
	for _, w := range wanted {
		if !slices.ContainsFunc(recipes, func(r recipe) bool { return r.name == w }) {
			return nil, fmt.Errorf("there is no recipe %q: -list names all", w)
		}
	}
	var out []recipe
	for _, r := range recipes {
		if slices.Contains(wanted, r.name) || len(wanted) == 0 && (o.all || r.apart == "") {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no recipe is asked for: -list names all")
	}
	return out, nil
}

// list names all recipes.
func list(w io.Writer) error {
	for _, r := range recipes {
		note := ""
		if r.apart != "" {
			note = "; with -all, or -only " + r.name + ": " + r.apart
		}
		if _, err := fmt.Fprintf(w, "%s: %s%s\n", r.name, strings.Join(r.files, " "), note); err != nil {
			return err
		}
	}
	return nil
}

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
)

// inputFlags say how files other than glTF are to be understood.
type inputFlags struct{ units string }

// units are how long one is, in metres.
var units = []struct {
	name   string
	metres float64
}{{"mm", 0.001}, {"cm", 0.01}, {"m", 1}, {"in", 0.0254}}

func (i *inputFlags) register(f *pflag.FlagSet, o *cook.Options) {
	f.StringVar(&o.Up, "up", "", "axis that points upwards in OBJ, PLY and STL files: y or z (default: y for OBJ, z for PLY and STL)")
	f.StringVar(&i.units, "units", "m", "unit of OBJ, PLY and STL files: mm, cm, m or in")
}

func (i *inputFlags) resolve(o *cook.Options) error {
	if o.Up = strings.ToLower(o.Up); o.Up != "" && o.Up != "y" && o.Up != "z" {
		return fmt.Errorf("--up is %q; use y or z", o.Up)
	}
	var names []string
	for _, u := range units {
		if u.name == i.units {
			if o.Metres = u.metres; u.metres == 1 {
				o.Metres = 0 // as without the flag
			}
			return nil
		}
		names = append(names, u.name)
	}
	return fmt.Errorf("--units is %q; use %s", i.units, strings.Join(names, ", "))
}

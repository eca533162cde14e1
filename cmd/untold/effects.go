package main

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
)

// need is what a flag needs to have an effect.
type need struct {
	flag string
	met  bool
	why  string // the sentence for users when it is not met
}

// checkEffects refuses flags of the command line that would change nothing, and
// notes those of the environment and of files, which may be for other commands.
func (a *app) checkEffects(f *pflag.FlagSet, needs []need) error {
	for _, n := range needs {
		if n.met || !f.Changed(n.flag) {
			continue
		}
		if source(f, n.flag) == fromCommandLine {
			return fmt.Errorf("--%s has no effect: %s", n.flag, n.why)
		}
		a.info("note: the setting %s has no effect: %s", n.flag, n.why)
	}
	return nil
}

// checkAsked is checkEffects without the notes: for settings that a user makes
// once for all commands, such as the folder of the cache.
func (a *app) checkAsked(f *pflag.FlagSet, needs []need) error {
	return a.checkEffects(f, slices.DeleteFunc(needs, func(n need) bool { return source(f, n.flag) != fromCommandLine }))
}

// serverNeeds are those of the flags of commands that can read from servers.
func serverNeeds(f *pflag.FlagSet, address bool) (list []need) {
	for _, name := range []string{"allow-insecure-http", "cache-budget", "cache-dir", "max-download", "max-files", "max-manifest", "timeout"} {
		if f.Lookup(name) != nil {
			list = append(list, need{name, address, "nothing is downloaded of what is on the disk; name it by its address, or leave this out"})
		}
	}
	return list
}

// generatedNeeds are those of flags for a path that is made.
func generatedNeeds(made bool) []need {
	return []need{{"speed", made, "a recorded path has its own; it goes with --orbit, --fly-through and --walk"}}
}

// oneFormat refuses --json beside another --format.
func oneFormat(f *pflag.FlagSet, format string) error {
	if f.Changed("json") && source(f, "format") == fromCommandLine && format != "json" {
		return fmt.Errorf("--json is short for --format json and excludes --format %s: leave one of them out", format)
	}
	return nil
}

// cookNeeds come after the levels and the preset are resolved.
func cookNeeds(o *cook.Options) []need {
	const noLevels, noHLODs = "no levels are made; add --lod, --hlod, --lod-level or --hlod-level", "no HLODs are made; add --hlod or --hlod-level"
	levels, hlods := len(o.LODs)+len(o.HLODs) > 0, len(o.HLODs) > 0
	list := []need{
		{"hlod-atlas", hlods, noHLODs},
		{"hlod-max-texture", hlods, noHLODs},
		{"split-max-tiles", o.Clip || o.Partition != cook.PartitionGrid, "it says which objects are cut, and with --clip=false none is; there spanning objects go to the shared bucket"},
	}
	for _, name := range []string{"lod-min-triangles", "lod-max-error-pixels"} {
		list = append(list, need{name, levels, noLevels})
	}
	const fixed = "with --lod-level, --hlod-level and --compat engine the distances do not follow from the scene"
	const whole = "levels are made only of scenes beyond --whole-limit, and none are made at all: leave --lod and --hlod on"
	list = append(list,
		need{"whole-limit", o.FitDistances, fixed}, need{"whole-limit", levels, whole}, need{"view-distance", o.FitDistances, fixed},
		need{"tile-triangles", o.TileSize[0] == 0 || o.TileSize[2] == 0, "the size of the tiles is given"})
	// Where tiles end is measured in pixels, too.
	const noPixels = "no error is measured in pixels: --lod-max-error-pixels is below 0 and --lod-error-pixels is off"
	pixels := o.FitDistances || levels && (o.LODMaxErrorPixels >= 0 || o.LODErrorPixels > 0)
	for _, name := range []string{"lod-fov", "lod-height"} {
		list = append(list, need{name, o.FitDistances || levels, noLevels}, need{name, pixels, noPixels})
	}
	return list
}

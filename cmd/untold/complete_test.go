package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// offered are the words that a shell offers for the last of the arguments.
func offered(t *testing.T, args ...string) (list []string, directive string) {
	t.Helper()
	var out bytes.Buffer
	if code := run(t.Context(), append([]string{cobra.ShellCompNoDescRequestCmd}, args...), &out, &bytes.Buffer{}); code != 0 {
		t.Fatalf("%v: exit %d", args, code)
	}
	lines := strings.Fields(out.String())
	return lines[:len(lines)-1], lines[len(lines)-1]
}

func TestCompletion(t *testing.T) {
	city := cooked(t, "--tile-size", "25", "--whole-limit", "0")
	const words, files, folders, open = ":4", ":8", ":16", ":6"
	for _, c := range []struct{ line, want, directive string }{
		{"cook --partition ", "grid quadtree kdtree", words},
		{"cook --partition k", "kdtree", words},
		{"cook --units ", "mm cm m in", words},
		{"cook --tier-radius F", "FineProps=", open},
		{"cook ", "glb gltf usd usda usdc usdz obj ply stl json csv", files},
		{"cook a.glb ", "glb gltf usd usda usdc usdz obj ply stl json csv", files},
		{"cook -o ", "", folders},
		{"cook --config ", "yaml yml", files},
		{"cook --memory ", "", words},
		{"convert -o ", "untold", files},
		{"export --textures ", "copy ktx2", words},
		{"export -o ", "glb gltf 3tz", files},
		{"inspect --chunk V", "VERTEX_DATA", words},
		{"inspect --format ", "text json", words},
		{"validate --format s", "sarif", words},
		{"preview --view al", "albedo", words},
		{"preview --show figures,m", "figures,map", words},
		{"preview --set enableFade", "enableFadeTransitions=", open},
		{"serve ", "", folders},
		{"serve --fail-with status,a", "status,abort", words},
		{"farm slurm --partition ", "", words},
		{"manifest build --scene-profile ", "indoor outdoor", words},
		{"store gc ", "", folders},
		{"doctor --need open", "opengl", words},
		{"version ", "", words},
		{"cook --color a", "auto always", words},
		{"cook --fail-if tile_bytes_", "tile_bytes_p50 tile_bytes_p95 tile_bytes_max tile_bytes_total", open},
		{"simulate --fail-if undraw", "undrawn", open},
		{"cook --fail-if undraw", "", open},
		{"explain ", "json", files},
		{"explain CITY ", "tile_0_0_0 tile_1_0_0", words},
		{"explain CITY tile_1", "tile_1_0_0", words},
		{"explain CITY tile_1_0_0 ", "", words},
		{"explain none.json ", "", words},
	} {
		list, directive := offered(t, strings.Split(strings.ReplaceAll(c.line, "CITY", city), " ")...)
		if got := strings.Join(list, " "); got != c.want || directive != c.directive {
			t.Errorf("untold %s: %q %s, want %q %s", c.line, got, directive, c.want, c.directive)
		}
	}
}

// TestCompletionIsComplete: every flag that takes a text is in one of the lists, so
// that a new one is thought of; and the lists have no others.
func TestCompletionIsComplete(t *testing.T) {
	used := map[string]bool{}
	has := func(known func(string) bool, cmd *cobra.Command, flag string) bool {
		for _, key := range []string{commandName(cmd) + " " + flag, flag} {
			if known(key) {
				used[key] = true
				return true
			}
		}
		return false
	}
	known := func(key string) bool {
		return flagValues[key] != nil || flagFiles[key] != "" || slices.Contains(flagFolders, key) || slices.Contains(freeFlags, key)
	}
	numbers := []string{"bool", "int", "int64", "uint", "uint32", "uint64", "float64"}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !has(known, cmd, f.Name) && !slices.Contains(numbers, f.Value.Type()) {
				t.Errorf("%s --%s is in none of the lists of complete.go: flagValues where its words are ours, flagFiles, flagFolders, else freeFlags", cmd.CommandPath(), f.Name)
			}
		})
		if _, ok := argumentFiles[commandName(cmd)]; ok {
			used["argument "+commandName(cmd)] = true
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(newRoot(&app{}))
	var all []string
	for key := range flagValues {
		all = append(all, key)
	}
	for key := range flagFiles {
		all = append(all, key)
	}
	for key := range argumentFiles {
		all = append(all, "argument "+key)
	}
	for _, key := range slices.Concat(all, flagFolders, freeFlags) {
		if !used[key] {
			t.Errorf("complete.go lists %q, which is not there", key)
		}
	}
}

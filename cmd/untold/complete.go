package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook/diff"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/doctor"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/remote"
	"github.com/untoldkit/untold/runtime/serve"
)

// What shells offer behind a flag. A key is the name of a flag, of any command, or
// of a command and its flag, which goes first. TestCompletion holds the lists
// complete: every flag that takes a text stands in one of them.
var (
	// flagValues are flags with words of ours.
	flagValues = map[string]func() []string{
		"color":                        words("auto always never"),
		"partition":                    words("grid quadtree kdtree"),
		"kdtree-balance":               words("triangles objects"),
		"scene-profile":                words("auto indoor outdoor"),
		"manifest build scene-profile": words("indoor outdoor"),
		"tier-matching":                words("token substring"),
		"tier-radius":                  words("ExteriorShell= StructuralInterior= RoomContents= FineProps="),
		"untagged-semantic-tier":       words("Auto ExteriorShell StructuralInterior RoomContents FineProps"),
		"pyramid":                      words("auto on off"),
		"recenter":                     words("auto none"),
		"up":                           words("y z"),
		"units":                        unitNames,
		"textures":                     words("copy resize astc bc ktx2"),
		"export textures":              words("copy ktx2"),
		"astc-block":                   words("auto 4x4 5x5 6x6 8x8"),
		"texture-quality":              words("fast high"),
		"compress":                     words("auto none lz4 zstd delta"),
		"publish compress":             words("kept auto none lz4 zstd delta"),
		"container-version":            words("1 2 3 4"),
		"compat":                       words("engine"),
		"also":                         words("3dtiles"),
		"shard":                        words("auto"),
		"file-type":                    words("tile lod hlod shared"),
		"validate format":              words("text json junit sarif github"),
		"inspect format":               words("text json"),
		"export format":                words("gltf 3dtiles web"),
		"chunk":                        chunkNames,
		"map-color":                    words("auto tier bytes triangles"),
		"only":                         diff.Parts,
		"bench only":                   func() []string { return benchStages },
		"export levels":                words("full lod1 hlod"),
		"mode":                         words("covered strict"),
		"preset":                       words("low standard high unlimited"),
		"ranges":                       words("auto off"),
		"batching":                     words("on off"),
		"set":                          parameterNames,
		"size":                         words("1280x720 1920x1080"),
		"show":                         shownList,
		"tone":                         words("neutral aces"),
		"lights":                       preview.LightingNames,
		"view":                         viewList,
		"compare-whole":                words("auto street roof high far orbit"),
		"fail-with":                    faultNames,
		"config show for":              func() []string { return shownCommands },
		"figures for":                  figureCommands,
		"need":                         func() []string { return doctor.Names },
	}
	// closedFlags are those of cook, convert and publish that take no other words: JSON Schemas say
	// so, too.
	closedFlags = []string{
		"partition", "kdtree-balance", "scene-profile", "tier-matching", "untagged-semantic-tier", "pyramid", "up", "units", "textures", "astc-block",
		"texture-quality", "compress", "container-version", "compat",
	}
	// flagFiles are flags that name files, by the ends of their names.
	flagFiles = map[string]string{
		"config": "yaml yml", "plan": "json plan", "report": "json html png", "camera-path": "json", "world": "json", "events": "jsonl json",
		"plot": "svg", "stats": "json", "frame-log": "jsonl json", "screenshot": "png", "pop-report": "html json png", "map": "svg png",
		"grade": "cube", "tls-cert": "pem crt", "tls-key": "pem key", "from": "json", "compare": "json",
		"convert output": "untold", "init output": "yaml yml", "export output": "glb gltf 3tz", "manifest build output": "json", "manifest normalize output": "json",
	}
	// flagFolders name folders.
	flagFolders = []string{"output", "store", "cache-dir", "record"}
	// freeFlags have values that nobody can guess.
	freeFlags = []string{
		"camera",
		"scene-name", "payload-dir", "lod-level", "hlod-level", "explain", "memory", "whole-limit", "max-download", "max-manifest", "max-size", "cache-budget", "bandwidth",
		"fail-if", "map-tile", "ecef", "addr", "cors", "url", "name", "program", "time", "cpus", "image", "namespace", "farm slurm partition",
		"dt", "duration", "latency", "parse-time", "fixed-dt", "retry-after", "read-timeout", "timeout", "grace", "max-age", "pvc", "secret", "service-account", "ttl", "user", "city",
	}
	// argumentFiles are the ends of the names that a command's arguments have; "" for
	// folders alone. Commands without arguments are not here.
	argumentFiles = map[string]string{
		"cook": sceneFiles + " json csv", "init": sceneFiles + " json csv", "config show": sceneFiles + " json", "convert": sceneFiles, "farm slurm": sceneFiles + " json csv",
		"farm kubernetes": sceneFiles + " json csv", "farm shell": sceneFiles + " json csv",
		"validate": "untold utex ktx2 json", "inspect": "json untold utex ktx2", "diff": "json untold", "export": "json untold",
		"explain": "json", "simulate": "json", "bench": sceneFiles + " json", "preview": "json untold " + sceneFiles, "serve": "", "publish": "", "manifest build": "untold", "manifest bands": "json", "manifest normalize": "json",
		"store stat": "", "store verify": "", "store gc": "",
	}
)

// sceneFiles are the ends of the names of scenes that can be cooked.
const sceneFiles = "glb gltf usd usda usdc usdz obj ply stl"

// words returns words separated by spaces.
func words(list string) func() []string {
	return func() []string { return strings.Fields(list) }
}

func unitNames() (list []string) {
	for _, u := range units {
		list = append(list, u.name)
	}
	return list
}

func chunkNames() (list []string) {
	for t := format.ChunkStrings; t <= format.ChunkIndices; t++ { // of version 1
		list = append(list, t.String())
	}
	return list
}

func parameterNames() (list []string) {
	for _, p := range config.Params() {
		list = append(list, p.Key+"=")
	}
	return list
}

func shownList() []string { return strings.Split(shownNames(), ", ") }

func viewList() []string { return strings.Split(viewNames(), ", ") }

func faultNames() []string {
	return []string{string(serve.FaultStatus), string(serve.FaultAbort), string(serve.FaultTruncate)}
}

// commandName is what is typed for a command behind the program's name.
func commandName(cmd *cobra.Command) string {
	_, name, _ := strings.Cut(cmd.CommandPath(), " ")
	return name
}

// about looks up what is said of a command's flag, or of a flag of any command.
func about[T any](list map[string]T, cmd *cobra.Command, flag string) (v T, ok bool) {
	if v, ok = list[commandName(cmd)+" "+flag]; !ok {
		v, ok = list[flag]
	}
	return v, ok
}

// completions has shells offer values, files and folders for a command and those
// below it.
func completions(cmd *cobra.Command) {
	for _, c := range cmd.Commands() {
		completions(c)
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		offer := offerFlag(cmd, f)
		if offer == nil {
			return
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, offer); err != nil && cmd.Flag(f.Name) == nil {
			panic(err) // the flag is of this command
		}
	})
	if cmd.HasSubCommands() || cmd.ValidArgsFunction != nil {
		return
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	if commandName(cmd) == "explain" {
		cmd.ValidArgsFunction = offerTiles
	} else if ends, ok := argumentFiles[commandName(cmd)]; ok {
		cmd.ValidArgsFunction = offerFiles(ends)
	}
}

// offerFlag is what is offered behind a flag, nil for switches.
func offerFlag(cmd *cobra.Command, f *pflag.Flag) cobra.CompletionFunc {
	if f.Value.Type() == "bool" {
		return nil
	}
	if slices.Contains(freeFlags, commandName(cmd)+" "+f.Name) {
		return cobra.NoFileCompletions
	}
	switch {
	case commandName(cmd) == "preview" && f.Name == "camera":
		return offerCameras
	case f.Name == "fail-if":
		return offerFigures
	}
	if values, ok := about(flagValues, cmd, f.Name); ok {
		_, several := f.Value.(pflag.SliceValue)
		return offerWords(values, several && f.Value.Type() == "strings" || f.Value.Type() == "stringSlice" || f.Name == "fail-with")
	}
	if ends, ok := about(flagFiles, cmd, f.Name); ok {
		return offerFiles(ends)
	}
	if slices.Contains(flagFolders, f.Name) {
		return offerFiles("")
	}
	return cobra.NoFileCompletions
}

// offerWords offers words, of a list with commas for its last place.
func offerWords(values func() []string, several bool) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) (list []string, d cobra.ShellCompDirective) {
		before := ""
		if i := strings.LastIndexByte(typed, ','); several && i >= 0 {
			before = typed[:i+1]
		}
		d = cobra.ShellCompDirectiveNoFileComp
		for _, v := range values() {
			if strings.HasSuffix(v, "=") {
				d |= cobra.ShellCompDirectiveNoSpace // the value follows
			}
			if strings.HasPrefix(before+v, typed) {
				list = append(list, before+v)
			}
		}
		return list, d
	}
}

// offerCameras offers the cameras of the manifest that was typed.
func offerCameras(_ *cobra.Command, args []string, typed string) (list []string, d cobra.ShellCompDirective) {
	d = cobra.ShellCompDirectiveNoFileComp
	if len(args) == 0 || remote.IsURL(args[0]) {
		return nil, d
	}
	scenes, err := preview.Open(args[0])
	if err != nil || len(scenes) == 0 {
		return nil, d
	}
	open, err := scenes[0].Load()
	if err != nil {
		return nil, d
	}
	for _, v := range preview.Viewpoints(open.Source.Manifest) {
		if v.Name != "" && strings.HasPrefix(v.Name, typed) && !slices.Contains(list, v.Name) {
			list = append(list, v.Name)
		}
	}
	return list, d
}

// offerFigures offers the figures of a command. What they are compared with is the
// user's, in quotes: to a shell a bare > is a file to write.
func offerFigures(cmd *cobra.Command, _ []string, typed string) (list []string, d cobra.ShellCompDirective) {
	for _, name := range commandFigures(commandName(cmd)) {
		if strings.HasPrefix(name, typed) {
			list = append(list, name)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// offerTiles offers manifests, and behind one its tiles.
func offerTiles(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	const d = cobra.ShellCompDirectiveNoFileComp
	if len(args) == 0 {
		return offerFiles(argumentFiles[commandName(cmd)])(cmd, args, typed)
	}
	if len(args) > 1 || remote.IsURL(args[0]) {
		return nil, d
	}
	path, err := manifestPath("explain", " TILE", args[0])
	if err != nil {
		return nil, d
	}
	m, err := manifest.LoadPlanned(path)
	if err != nil {
		return nil, d
	}
	var list []string
	for i := range m.Tiles {
		if id := m.Tiles[i].ID; strings.HasPrefix(id, typed) {
			list = append(list, id)
		}
	}
	if m.SharedBucket != nil && strings.HasPrefix("shared", typed) {
		list = append(list, "shared")
	}
	return list, d
}

// offerFiles offers files whose names end in one of these ways, or folders.
func offerFiles(ends string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		if ends == "" {
			return nil, cobra.ShellCompDirectiveFilterDirs
		}
		return strings.Fields(ends), cobra.ShellCompDirectiveFilterFileExt
	}
}

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/runtime/config"
)

// setting is a setting of a command and where its value comes from.
type setting struct {
	Name  string `json:"name"`
	Value string `json:"value"` // as text; several values of one flag are separated by commas
	// Source is default, file, environment or flag.
	Source string `json:"source"`
	// Where is the place of a value that is no default: FILE:LINE, the variable, the
	// flag.
	Where   string `json:"where,omitempty"`
	Kind    string `json:"kind"` // flag or parameter (of the runtime)
	Meaning string `json:"meaning"`
}

// shownConfig is what config show --json prints.
type shownConfig struct {
	Command string `json:"command"`
	// File is the file of settings that was read, "" for none.
	File     string    `json:"file"`
	Settings []setting `json:"settings"`
	// Elsewhere are keys of the file that this command has no use for.
	Elsewhere []string `json:"elsewhere"`

	silent bool // the file has no settings
}

func newConfig(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		Short:   "Show settings and where they come from",
		GroupID: "look",
		Long:    "config shows what a command would be set to: by its flags, by variables UNTOLD_<FLAG>, by a file of\nsettings, and by default.",
		Args:    cobra.NoArgs,
	}
	cmd.AddCommand(newConfigShow(a))
	return cmd
}

// shownCommands are the commands whose settings are shown.
var shownCommands = []string{"cook", "convert", "validate", "simulate", "preview", "export", "publish", "serve", "diff", "inspect"}

func newConfigShow(a *app) *cobra.Command {
	var asJSON, changed bool
	var of string
	cmd := &cobra.Command{
		Use:   "show [SCENE] [-- FLAGS]",
		Short: "List every setting with its value and its source",
		Long: `show lists every setting that untold cook has for a scene, or that --for COMMAND has: its value,
and whether it comes from a flag, a variable of the environment, a line of a file, or is the
default. The file is that of --config, else untold.yaml beside the scene; for simulate and preview,
which have the parameters of the runtime as well, beside the manifest. Without a SCENE it is the one
in this folder. Flags of the command stand behind --. Nothing is cooked or run.`,
		Example: `  untold config show city.glb
  untold config show city.glb --changed
  untold config show city.glb -- --tile-size 50 --textures bc
  untold config show out/city/city.json --for simulate --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(shownCommands, of) {
				return fmt.Errorf("--for is %q; use %s", of, strings.Join(shownCommands, ", "))
			}
			scene, flags := "", args
			if n := cmd.ArgsLenAtDash(); n != 0 && len(args) > 0 {
				scene, flags = args[0], args[1:]
				if n > 1 || n < 0 && len(args) > 1 {
					return fmt.Errorf("%q is one argument too many: name one scene, and flags behind --", args[1])
				}
			}
			r, err := a.showConfig(of, scene, flags)
			if err != nil {
				return err
			}
			if changed {
				r.Settings = slices.DeleteFunc(r.Settings, func(s setting) bool { return s.Source == "default" })
			}
			if asJSON {
				return writeJSON(a.stdout, r)
			}
			return r.print(a)
		},
	}
	f := cmd.Flags()
	f.StringVar(&of, "for", "cook", "the command: "+strings.Join(shownCommands, ", "))
	f.BoolVar(&changed, "changed", false, "leave the defaults out")
	f.BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// showConfig finds out what a command would be set to.
func (a *app) showConfig(name, scene string, flags []string) (*shownConfig, error) {
	inner := &app{stdout: a.stdout, stderr: a.stderr, quiet: a.quiet, color: a.color, config: a.config}
	root := newRoot(inner)
	cmd, _, err := root.Find([]string{name})
	if err != nil {
		return nil, err
	}
	cmd.InitDefaultHelpFlag()
	if err := cmd.ParseFlags(flags); err != nil {
		return nil, cmd.FlagErrorFunc()(cmd, err)
	}
	if rest := cmd.Flags().Args(); len(rest) > 0 {
		return nil, fmt.Errorf("%q is no flag, and the scene stands before --", rest[0])
	}
	if a.config != "" && inner.config == "" {
		inner.config = a.config
	}
	if err := applyEnv(cmd); err != nil {
		return nil, err
	}
	inner.flags = allFlags(root)
	if err := inner.applyNamed(cmd); err != nil {
		return nil, err
	}
	beside, err := besideWhich(name, scene)
	if err != nil {
		return nil, err
	}
	p := inner.profile
	if p == nil {
		if p, err = readBeside(beside); err != nil {
			return nil, err
		}
		if err := p.judge(inner); err != nil {
			return nil, err
		}
		if err := applyBeside(cmd, inner, name, beside, p); err != nil {
			return nil, err
		}
	}
	r := &shownConfig{Command: name, Settings: []setting{}, Elsewhere: []string{}, silent: len(p.entries) == 0}
	if p.there {
		r.File = p.path
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "help" {
			r.Settings = append(r.Settings, settingOf(cmd, f))
		}
	})
	slices.SortStableFunc(r.Settings, func(x, y setting) int { return strings.Compare(x.Name, y.Name) })
	if name == "simulate" || name == "preview" {
		if err := r.addParameters(cmd, inner, p, name, beside); err != nil {
			return nil, err
		}
	}
	r.elsewhere(p)
	return r, nil
}

// besideWhich is the file beside which a command looks for untold.yaml.
func besideWhich(name, scene string) (string, error) {
	switch {
	case scene == "":
		return "scene", nil // this folder
	case !isLocal(scene):
		return "", errors.New("there is no untold.yaml beside an address or the standard input: leave the scene out, or name a file with --config")
	}
	if _, err := journal.Stat(scene); err == nil {
		return scene, nil
	}
	_, err := os.Stat(scene)
	return scene, err
}

// judge refuses keys that are unknown, or that a file beside a scene may not have.
func (p *profile) judge(a *app) error {
	for _, e := range p.entries {
		if err := p.trusted(e, a.isFlag); err != nil {
			return err
		}
		name := flagName(e.key.Value)
		if !slices.Contains(freeText, e.key.Value) && !isParameter(e.key.Value, e.value) && !a.isFlag(name) {
			return p.fail(e, fmt.Errorf("unknown key %q%s", e.key.Value, nearestOf(name, append(parameterKeys(), a.flags...))))
		}
	}
	return nil
}

// applyBeside sets what a command takes from untold.yaml beside a file.
func applyBeside(cmd *cobra.Command, a *app, name, beside string, p *profile) error {
	switch name {
	case "cook":
		return a.applyProfile(cmd, beside)
	case "simulate", "preview":
		for _, e := range p.entries {
			if flagName(e.key.Value) == "fail-if" {
				if err := p.applyKey(cmd, e, a.flags); err != nil {
					return p.fail(e, err)
				}
			}
		}
	}
	return nil
}

// settingOf says what a flag is set to.
func settingOf(cmd *cobra.Command, f *pflag.Flag) setting {
	_, meaning := pflag.UnquoteUsage(f)
	s := setting{Name: f.Name, Value: valueText(f), Kind: "flag", Meaning: meaning}
	s.Source, s.Where = sourceText(cmd.Flags(), f)
	return s
}

// valueText is the value of a flag.
func valueText(f *pflag.Flag) string {
	if v, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Join(v.GetSlice(), ",")
	}
	return f.Value.String()
}

// sourceText says where the value of a flag comes from.
func sourceText(set *pflag.FlagSet, f *pflag.Flag) (from, where string) {
	return [...]string{fromDefault: "default", fromProfile: "file", fromEnv: "environment", fromCommandLine: "flag"}[source(set, f.Name)], whereOf(set, f)
}

// whereOf is the place that a flag's value comes from, "" for a default.
func whereOf(set *pflag.FlagSet, f *pflag.Flag) string {
	switch source(set, f.Name) {
	case fromCommandLine:
		return "--" + f.Name
	case fromDefault:
		return ""
	}
	list := f.Annotations[sourceAnnotation]
	return list[len(list)-1]
}

// addParameters lists the parameters of the runtime.
func (r *shownConfig) addParameters(cmd *cobra.Command, a *app, p *profile, name, beside string) error {
	c, def := config.Default(), config.Default()
	if name == "preview" {
		c.EnableFadeTransitions, def.EnableFadeTransitions = true, true // but for --fixed-dt
	}
	if err := a.runtimeProfile(&c, beside); err != nil {
		return err
	}
	sets, _ := cmd.Flags().GetStringArray("set")
	if err := setParameters(&c, sets); err != nil {
		return err
	}
	for _, x := range config.Params() {
		s := setting{Name: x.Key, Kind: "parameter", Source: "default", Meaning: x.Meaning, Value: x.Text(&c)}
		for _, e := range p.entries {
			if at := parameterLine(e, x.Key); at > 0 {
				s.Source, s.Where = "file", fmt.Sprintf("%s:%d", p.path, at)
			}
		}
		for _, text := range sets {
			if key, _, _ := strings.Cut(text, "="); strings.TrimSpace(key) == x.Key {
				s.Source, s.Where = "flag", "--set"
				if source(cmd.Flags(), "set") != fromCommandLine {
					s.Source, s.Where = sourceText(cmd.Flags(), cmd.Flags().Lookup("set"))
				}
			}
		}
		r.Settings = append(r.Settings, s)
	}
	return nil
}

// parameterLine is the line of a file's entry in which a parameter is set, 0 for none.
func parameterLine(e profileEntry, key string) int {
	if e.key.Value == key {
		return e.key.Line
	}
	rest, inGroup := strings.CutPrefix(key, e.key.Value+".")
	for i := 0; inGroup && i+1 < len(e.value.Content); i += 2 {
		if e.value.Content[i].Value == rest {
			return e.value.Content[i].Line
		}
	}
	return 0
}

// elsewhere lists the keys that are no settings of the command.
func (r *shownConfig) elsewhere(p *profile) {
	for _, e := range p.entries {
		key := flagName(e.key.Value)
		own := slices.ContainsFunc(r.Settings, func(s setting) bool {
			return s.Name == key && s.Kind == "flag" && !isParameter(e.key.Value, e.value) || s.Kind == "parameter" && parameterLine(e, s.Name) > 0
		})
		if !own && !slices.Contains(freeText, e.key.Value) {
			r.Elsewhere = append(r.Elsewhere, e.key.Value)
		}
	}
}

func (r *shownConfig) print(a *app) error {
	file := "no file of settings"
	if r.File != "" {
		file = r.File
		if r.silent {
			file += ", which sets nothing"
		}
	}
	fmt.Fprintf(a.stdout, "untold %s, %s\n\n", r.Command, oneLine(file))
	if len(r.Settings) == 0 {
		fmt.Fprintln(a.stdout, "nothing is set: all is as by default")
	}
	t := newTable(0, "setting", "value", "from")
	for i := range r.Settings {
		s := &r.Settings[i]
		from := s.Source
		switch s.Source {
		case "file", "flag":
			from = s.Where
		case "environment":
			from = "environment, " + s.Where
		}
		value := s.Value
		if value == "" {
			value = "-"
		}
		t.add(s.Name, value, from)
	}
	if len(t.rows) > 0 {
		t.print(a.stdout)
	}
	if len(r.Elsewhere) > 0 {
		fmt.Fprintf(a.stdout, "\nof other commands: %s\n", oneLine(strings.Join(r.Elsewhere, ", ")))
	}
	return nil
}

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/untoldkit/untold/runtime/config"
)

// pathFlagNames are the flags, of any command, that name a file or a folder. In a
// file of settings a relative one starts at that file's folder.
var pathFlagNames = []string{
	"output", "report", "plan", "map", "from", "cache-dir", "camera-path", "events", "plot", "stats", "frame-log", "screenshot",
	"record", "tls-cert", "tls-key", "pop-report", "world", "store", "grade", "compare",
}

// viewFlagNames are flags that take words or the name of a .json file.
var viewFlagNames = []string{"compare-whole"}

// pathParameters are those of the runtime.
var pathParameters = []string{"cache.dir"}

// applyNamed sets flags from the file of --config that neither the command line
// nor the environment has set. Keys are the names of flags, of any command, and
// of runtime parameters; those that this command lacks are passed over.
func (a *app) applyNamed(cmd *cobra.Command) error {
	if a.config == "" {
		return nil
	}
	p, err := readNamed(a.config)
	if err != nil {
		return err
	}
	a.profile = p
	return p.applyAll(cmd, a.flags)
}

// applyAll sets what the entries of a file that --config names say.
func (p *profile) applyAll(cmd *cobra.Command, known []string) error {
	for _, e := range p.entries {
		if err := p.applyKey(cmd, e, known); err != nil {
			return p.fail(e, err)
		}
	}
	return nil
}

// applyProfile sets flags that neither the command line nor the environment
// has set from the profile beside the scene, if --config names none.
func (a *app) applyProfile(cmd *cobra.Command, scene string) error {
	if a.profile != nil {
		return nil
	}
	p, err := readBeside(scene)
	if err != nil {
		return err
	}
	for _, e := range p.entries {
		if err := p.trusted(e, a.isFlag); err != nil {
			return err
		}
		if err := p.applyKey(cmd, e, a.flags); err != nil {
			return p.fail(e, err)
		}
	}
	return nil
}

// isFlag reports whether any command has a flag.
func (a *app) isFlag(name string) bool { return slices.Contains(a.flags, name) }

// allFlags are the names of the flags of all commands, sorted.
func allFlags(root *cobra.Command) []string {
	var names []string
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		for _, set := range []*pflag.FlagSet{c.LocalFlags(), c.InheritedFlags()} {
			set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	slices.Sort(names)
	return slices.Compact(names)
}

// applyKey sets one flag; a list sets a repeatable flag item by item.
func (p *profile) applyKey(cmd *cobra.Command, e profileEntry, known []string) error {
	key, v := e.key.Value, e.value
	name := flagName(key)
	if slices.Contains(freeText, key) || isParameter(key, v) {
		return nil // what simulate and preview read from the same file
	}
	f := cmd.Flags().Lookup(name)
	switch {
	case name == "help" || name == "version" || name == "config" || !slices.Contains(known, name):
		return fmt.Errorf("unknown key %q%s", key, nearestOf(name, append(parameterKeys(), known...)))
	case f == nil || f.Changed || outranked(cmd, f):
		return nil // another command's; flags and environment win
	}
	values := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		values = v.Content
	}
	for _, item := range values {
		if item.Kind != yaml.ScalarNode {
			return fmt.Errorf("key %q wants a plain value", key)
		}
		text := item.Value
		if slices.Contains(pathFlagNames, name) && !strings.HasPrefix(text, "s3://") || slices.Contains(viewFlagNames, name) && filepath.Ext(text) == ".json" {
			text = p.resolve(text)
		}
		if err := setFrom(cmd, name, text, fmt.Sprintf("key %q", key), profileSource, fmt.Sprintf("%s:%d", p.path, e.key.Line)); err != nil {
			return err
		}
	}
	return nil
}

// resolve returns a path of the file as one from the working folder.
func (p *profile) resolve(path string) string {
	if path == "" || path == "-" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(p.path), filepath.FromSlash(path))
}

func parameterKeys() []string {
	var keys []string
	for _, p := range config.Params() {
		keys = append(keys, p.Key)
	}
	return keys
}

// isParameter reports whether a key of a profile is one of the runtime's, or a
// group of them.
func isParameter(key string, v *yaml.Node) bool {
	return slices.ContainsFunc(parameterKeys(), func(k string) bool {
		return k == key || v.Kind == yaml.MappingNode && strings.HasPrefix(k, key+".")
	})
}

// runtimeProfile sets parameters of the runtime from the file of --config, else
// from untold.yaml beside a local manifest; "" stands for one that has no
// folder. Its keys are the parameters' names. Keys of flags are skipped, since
// one folder may hold a scene and what was cooked from it.
func (a *app) runtimeProfile(c *config.Config, manifestPath string) error {
	p, err := a.profile, error(nil)
	switch {
	case p != nil:
	case manifestPath == "":
		return nil
	default:
		if p, err = readBeside(manifestPath); err != nil {
			return err
		}
	}
	for _, e := range p.entries {
		if err := p.trusted(e, a.isFlag); err != nil {
			return err
		}
		// lod is a switch of cook and a group of the runtime's.
		group := e.value.Kind == yaml.MappingNode
		if slices.Contains(freeText, e.key.Value) || !group && a.isFlag(flagName(e.key.Value)) {
			continue
		}
		v, err := p.parameter(e)
		if err != nil {
			return p.fail(e, err)
		}
		if err := c.Set(e.key.Value, v); err != nil {
			return p.fail(e, err)
		}
	}
	return nil
}

// parameter returns the value of a runtime parameter or of a group of them.
func (p *profile) parameter(e profileEntry) (any, error) {
	var v any
	if err := e.value.Decode(&v); err != nil {
		return nil, err
	}
	group, _ := v.(map[string]any)
	for _, path := range pathParameters {
		text, isText := v.(string)
		if isText && e.key.Value == path {
			return p.resolve(text), nil
		}
		name, inGroup := strings.CutPrefix(path, e.key.Value+".")
		if text, isText := group[name].(string); inGroup && isText {
			group[name] = p.resolve(text)
		}
	}
	return v, nil
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/untoldkit/untold/internal/spell"
)

// Where a flag's value comes from; a higher source wins.
const (
	fromDefault = iota
	fromProfile
	fromEnv
	fromCommandLine
)

const sourceAnnotation = "untold-source"

// source tells where a flag's value comes from.
func source(f *pflag.FlagSet, name string) int {
	x := f.Lookup(name)
	switch {
	case x == nil || !x.Changed:
		return fromDefault
	case len(x.Annotations[sourceAnnotation]) == 0:
		return fromCommandLine
	case x.Annotations[sourceAnnotation][0] == profileName:
		return fromProfile
	}
	return fromEnv
}

// setFrom sets a flag and keeps where its value comes from.
func setFrom(cmd *cobra.Command, name, value, from string) error {
	if err := cmd.Flags().Set(name, value); err != nil {
		return err
	}
	return cmd.Flags().SetAnnotation(name, sourceAnnotation, []string{from})
}

// applyEnv sets flags that the command line left alone from UNTOLD_<FLAG>.
func applyEnv(cmd *cobra.Command) error {
	var err error
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := "UNTOLD_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		v, ok := os.LookupEnv(name)
		if !ok || f.Changed || f.Name == "help" || err != nil {
			return
		}
		if e := setFrom(cmd, f.Name, v, name); e != nil {
			err = fmt.Errorf("%s: %w", name, e)
		}
	})
	return err
}

// profileName is the file with cook settings beside a scene.
const profileName = "untold.yaml"

// profileEntry is a line of a profile.
type profileEntry struct {
	key   *yaml.Node
	value *yaml.Node
}

// readProfile reads the profile beside a file; without one there are no
// entries. Errors name the profile's path.
func readProfile(beside string) (path string, entries []profileEntry, err error) {
	path = filepath.Join(filepath.Dir(beside), profileName)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return path, nil, nil
	}
	if err != nil {
		return path, nil, err
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		return path, nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(doc.Content) == 0 {
		return path, nil, nil
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode {
		return path, nil, fmt.Errorf("%s:%d: expected keys and values, such as \"tile-size: 25\"", path, top.Line)
	}
	for i := 0; i+1 < len(top.Content); i += 2 {
		entries = append(entries, profileEntry{top.Content[i], top.Content[i+1]})
	}
	return path, entries, nil
}

// applyProfile sets flags that neither the command line nor the environment
// has set from the profile beside the scene. Its keys are the flags' names.
func applyProfile(cmd *cobra.Command, scene string) error {
	path, entries, err := readProfile(scene)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := applyKey(cmd, e.key.Value, e.value); err != nil {
			return fmt.Errorf("%s:%d: %w", path, e.key.Line, err)
		}
	}
	return nil
}

// applyKey sets one flag; a list sets a repeatable flag item by item.
func applyKey(cmd *cobra.Command, key string, v *yaml.Node) error {
	name := strings.ReplaceAll(key, "_", "-")
	f := cmd.Flags().Lookup(name)
	if slices.Contains(freeText, key) || isParameter(key, v) {
		return nil // what simulate and preview read from the same file
	}
	if f == nil || name == "help" {
		return fmt.Errorf("unknown key %q%s", key, nearest(cmd, name))
	}
	if f.Changed {
		return nil // flags and environment win
	}
	values := []*yaml.Node{v}
	if v.Kind == yaml.SequenceNode {
		values = v.Content
	}
	for _, item := range values {
		if item.Kind != yaml.ScalarNode {
			return fmt.Errorf("key %q wants a plain value", key)
		}
		if err := setFrom(cmd, name, item.Value, profileName); err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
	}
	return nil
}

// suggestFlag adds the nearest flag to the message about an unknown one.
func suggestFlag(cmd *cobra.Command, err error) string {
	_, rest, ok := strings.Cut(err.Error(), "unknown flag: --")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, " ")
	return nearest(cmd, name)
}

// nearest returns `; did you mean "x"?` for a flag within three edits.
func nearest(cmd *cobra.Command, name string) string {
	best, at := 4, ""
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if d := spell.Distance(name, f.Name); d < best {
			best, at = d, f.Name
		}
	})
	if at == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", at)
}

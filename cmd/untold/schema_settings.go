package main

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/runtime/config"
)

type schemaObject = map[string]any

// settingsSchema is the JSON Schema of files of settings: of those that --config names,
// or of those that lie beside a scene or a manifest and set less.
func settingsSchema(root *cobra.Command, named bool) ([]byte, error) {
	name, text := "untold.yaml", "Settings of a scene, in a file untold.yaml beside it or beside its manifest: how it is cut, simplified and stored, its budgets, and parameters of the runtime. Keys may also be written with _ for -."
	if named {
		name, text = "config", "Settings of the file that --config names: flags of any command, and parameters of the runtime. Relative paths start at the file's folder. Keys may also be written with _ for -."
	}
	properties := schemaObject{}
	for _, key := range freeText {
		properties[key] = schemaObject{"description": "free for your own use", "type": []string{"string", "number", "boolean", "null"}}
	}
	for key, s := range flagSchemas(root, named) {
		properties[key] = s
	}
	groups := schemaObject{}
	for _, p := range config.Params() {
		addParameter(properties, groups, p, named)
	}
	for group, s := range groups {
		if flag, both := properties[group]; both { // lod is a switch of cook, too
			s = schemaObject{"anyOf": []any{flag, s}}
		}
		properties[group] = s
	}
	out := schemaObject{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": schemaID(name), "title": name, "description": text,
		"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false,
	}
	var b bytes.Buffer
	err := writeJSON(&b, out)
	return b.Bytes(), err
}

// flagSchemas describe the settings that are flags, of all commands or of those that a
// file beside a scene may set.
func flagSchemas(root *cobra.Command, named bool) map[string]schemaObject {
	type use struct {
		commands []string
		schema   schemaObject
		text     string
	}
	uses := map[string][]*use{}
	var visit func(c *cobra.Command)
	visit = func(c *cobra.Command) {
		if named || c.Name() == "cook" {
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				if f.Name == "help" || f.Name == "config" || !named && !slices.Contains(sceneSettings, f.Name) {
					return
				}
				u := &use{[]string{strings.TrimPrefix(c.CommandPath(), "untold ")}, flagSchema(f, c.Name()), describeFlag(f)}
				for _, other := range uses[f.Name] {
					if other.text == u.text {
						other.commands = append(other.commands, u.commands...)
						return
					}
				}
				uses[f.Name] = append(uses[f.Name], u)
			})
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(root)
	out := map[string]schemaObject{}
	for name, list := range uses {
		if len(list) == 1 {
			list[0].schema["description"] = list[0].text
			out[name] = list[0].schema
			continue
		}
		var kinds []schemaObject
		var texts []string
		for _, u := range list {
			kinds = append(kinds, u.schema)
			texts = append(texts, strings.Join(u.commands, ", ")+": "+u.text)
		}
		out[name] = schemaObject{"description": strings.Join(texts, "; "), "anyOf": kinds}
	}
	return out
}

// describeFlag is a flag's help in one line.
func describeFlag(f *pflag.Flag) string {
	_, text := pflag.UnquoteUsage(f)
	if d := f.DefValue; d != "" && d != "false" && d != "[]" && d != "0" && !strings.Contains(text, "default") {
		text += " (default " + d + ")"
	}
	return text
}

// flagSchema says what values a flag takes in a file.
func flagSchema(f *pflag.Flag, command string) schemaObject {
	if f.Name == "fail-if" {
		return budgetSchema()
	}
	if slices.Contains(closedFlags, f.Name) && (command == "cook" || command == "convert" || command == "publish") {
		values := flagValues[command+" "+f.Name]
		if values == nil {
			values = flagValues[f.Name]
		}
		var list []any
		for _, c := range values() {
			list = append(list, c)
			switch n, err := strconv.Atoi(c); {
			case err == nil:
				list = append(list, n)
			case c == "on" || c == "off": // as older YAML reads them
				list = append(list, c == "on")
			}
		}
		return schemaObject{"enum": list}
	}
	switch f.Value.Type() {
	case "bool":
		return schemaObject{"type": "boolean"}
	case "int", "int64":
		return schemaObject{"type": "integer"}
	case "uint", "uint64":
		return schemaObject{"type": "integer", "minimum": 0}
	case "bytes": // a number, or one with a unit
		unit := schemaObject{"type": "string", "pattern": `^\s*[0-9.]+\s*([KMGTkmgt]([Ii]?[Bb])?|[Bb])?\s*$`}
		return schemaObject{"anyOf": []schemaObject{{"type": "number", "minimum": 0}, unit}}
	case "float64", "float32", "float":
		return schemaObject{"type": "number"}
	case "string":
		return schemaObject{"type": "string"}
	case "stringArray", "stringSlice":
		return schemaObject{"anyOf": []schemaObject{{"type": "string"}, {"type": "array", "items": schemaObject{"type": "string"}}}}
	}
	return schemaObject{"type": []string{"string", "number", "boolean"}}
}

// budgetSchema takes conditions on figures of any command.
func budgetSchema() schemaObject {
	var names []string
	for _, f := range budget.Figures() {
		names = append(names, regexp.QuoteMeta(f.Name))
	}
	one := `\s*(` + strings.Join(names, "|") + `)\s*(<=|>=|==|<|>)\s*[-+.0-9][^,]*`
	text := schemaObject{"type": "string", "pattern": "^" + one + "(," + one + ")*$"}
	return schemaObject{"anyOf": []schemaObject{text, {"type": "array", "items": text}}}
}

// addParameter adds a parameter of the runtime, by its whole key and in its group. A
// group that a file beside a scene may not set is left out.
func addParameter(properties, groups schemaObject, p config.Param, named bool) {
	group, rest, dotted := strings.Cut(p.Key, ".")
	if !named && slices.Contains(userParameters, group) {
		return
	}
	s := parameterSchema(p)
	properties[p.Key] = s
	if !dotted {
		return
	}
	if groups[group] == nil {
		groups[group] = schemaObject{"type": "object", "description": "parameters of the runtime", "properties": schemaObject{}, "additionalProperties": false}
	}
	groups[group].(schemaObject)["properties"].(schemaObject)[rest] = s
}

// parameterSchema says what values a parameter of the runtime takes.
func parameterSchema(p config.Param) schemaObject {
	text := p.Meaning
	if p.Unit != "" {
		text += ", in " + p.Unit
	}
	if p.Range != "" {
		text += ", " + p.Range
	}
	s := schemaObject{"description": text + " (default " + p.Default + ")"}
	_, err := strconv.ParseFloat(p.Default, 64)
	switch {
	case p.Default == "true" || p.Default == "false":
		s["type"] = "boolean"
	case strings.HasPrefix(p.Default, "["):
		s["type"], s["items"] = "array", schemaObject{"type": "number"}
	case p.Key == "handoff":
		s["enum"] = []string{string(config.HandoffCovered), string(config.HandoffStrict)}
	case p.Key == "outOfCorePolicy":
		s["enum"] = []string{"auto", "immediate", "outOfCore"}
	case err == nil && strings.Contains(p.Range, "inf"):
		s["anyOf"] = []schemaObject{{"type": "number"}, {"enum": []string{"inf", ".inf"}}}
	case err == nil:
		s["type"] = "number"
	default:
		s["type"] = "string"
	}
	return s
}

package main

import (
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/manifest"
)

// schemaFiles are the schemas of what commands print, made of the Go types by
// TestSchemas.
//
//go:embed schemas/*.schema.json
var schemaFiles embed.FS

// schemaSuffix ends the files' names.
const schemaSuffix = ".schema.json"

// schemaID is what a schema calls itself.
func schemaID(name string) string { return "urn:untold:schema:" + name }

// schemaDoc is a schema and what it describes.
type schemaDoc struct {
	name, of string
}

// schemaDocs are all schemas in the order in which they are listed.
var schemaDocs = []schemaDoc{
	{"manifest", "the manifest of a cooked scene"},
	{"plan", "cook --dry-run --plan FILE.json"},
	{"untold.yaml", "the file of settings beside a scene or a manifest"},
	{"config", "the file of settings that --config names"},
	{"cook", "cook --json"},
	{"cook-report", "cook --report FILE.json"},
	{"tune", "tune --json"},
	{"bench", "bench --json"},
	{"cook-shard", "cook --shard --json"},
	{"cook-plan", "cook --dry-run --plan FILE.plan --json"},
	{"convert", "convert --json and --report"},
	{"validate", "validate --format json"},
	{"inspect-manifest", "inspect MANIFEST --json"},
	{"inspect-levels", "inspect MANIFEST --levels --json"},
	{"inspect-container", "inspect FILE.untold --json"},
	{"inspect-chunk", "inspect FILE.untold --chunk NAME --json"},
	{"inspect-mesh", "inspect FILE.untold --mesh N --json"},
	{"inspect-strings", "inspect FILE.untold --strings --json"},
	{"inspect-stats", "inspect FILE.untold --stats --json"},
	{"inspect-texture", "inspect FILE.utex --json"},
	{"diff", "diff --json"},
	{"export", "export --json to glTF"},
	{"export-3dtiles", "export --format 3dtiles --json"},
	{"simulate", "simulate --json and --report"},
	{"preview", "preview --json and --stats"},
	{"preview-compare", "preview --compare-whole --report FILE.json"},
	{"preview-pops", "preview --pop-report FILE.json"},
	{"frame-log", "a line of preview --frame-log"},
	{"events", "a line of simulate and preview --events"},
	{"publish", "publish --json"},
	{"store-stat", "store stat --json"},
	{"store-verify", "store verify --json"},
	{"store-gc", "store gc --json"},
	{"cache-ls", "cache ls --json"},
	{"cache-stat", "cache stat and clear --json"},
	{"cache-verify", "cache verify --json"},
	{"serve-listening", "the first line of serve --json"},
	{"serve-request", "a line of serve --json for a request"},
	{"serve-stopped", "the last line of serve --json"},
	{"manifest-bands", "manifest bands --json"},
	{"manifest-build", "manifest build --json"},
	{"doctor", "doctor --json"},
	{"explain", "explain --json"},
	{"inspect-damaged", "inspect FILE.untold --json of a damaged container"},
	{"figures", "figures --json"},
	{"config-show", "config show --json"},
	{"schema", "schema --json"},
}

// schemaList is what schema --json prints.
type schemaList struct {
	Name string `json:"name"`
	Of   string `json:"of"` // what it describes
}

func newSchema(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "schema [NAME]",
		Short:   "Print the JSON Schema of what commands read and print",
		GroupID: "more",
		Long: `schema prints a JSON Schema (draft 2020-12): of the manifest, of untold.yaml for editors, and of
everything that commands print as JSON. Objects have no other keys than those of the schema, and
keys that are required are always there. Without a name it lists all.

Editors with the YAML language server check an untold.yaml that begins with
# yaml-language-server: $schema=untold.yaml.schema.json`,
		Example: `  untold schema
  untold schema untold.yaml > untold.yaml.schema.json
  untold schema cook > cook.schema.json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.checkAsked(cmd.Flags(), []need{{"json", len(args) == 0, "a schema is JSON; this lists them"}}); err != nil {
				return err
			}
			if len(args) == 1 {
				text, err := schemaText(cmd.Root(), args[0])
				if err != nil {
					return err
				}
				_, err = a.stdout.Write(text)
				return err
			}
			list := []schemaList{}
			t := newTable(0, "schema", "of")
			for _, d := range schemaDocs {
				list = append(list, schemaList{d.name, d.of})
				t.add(d.name, d.of)
			}
			if asJSON {
				return writeJSON(a.stdout, list)
			}
			t.print(a.stdout)
			return nil
		},
		ValidArgs: schemaNames(),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

func schemaNames() (names []string) {
	for _, d := range schemaDocs {
		names = append(names, d.name)
	}
	return names
}

// schemaText returns a schema by its name.
func schemaText(root *cobra.Command, name string) ([]byte, error) {
	name = strings.TrimSuffix(name, schemaSuffix)
	if !slices.Contains(schemaNames(), name) {
		return nil, fmt.Errorf("there is no schema %q (untold schema lists them)%s", name, nearestOf(name, schemaNames()))
	}
	switch name {
	case "manifest":
		return manifest.Schema(), nil
	case "plan":
		return manifest.PlanSchema(), nil
	case "untold.yaml":
		return settingsSchema(root, false)
	case "config":
		return settingsSchema(root, true)
	}
	return schemaFiles.ReadFile("schemas/" + name + schemaSuffix)
}

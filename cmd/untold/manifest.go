package main

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook/manifestbuild"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

func newManifest(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "manifest",
		Short:   "Rebuild, normalize and explain manifests",
		GroupID: "make",
		Long: `manifest works on the JSON file that lists the tiles of a cooked scene: build makes it out of
the tiles on disk, bands shows at which distances the tiles change what is drawn, normalize
rewrites what the reference engine would change on load, schema prints its JSON Schema.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newManifestBuild(a), newManifestBands(a), newManifestNormalize(a), newManifestSchema(a))
	return cmd
}

func newManifestSchema(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of manifests",
		Long: `schema prints a JSON Schema (draft 2020-12), for editors and other programs. What a schema
cannot say is listed in its description; validate checks it.`,
		Example: "  untold manifest schema > manifest.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.stdout.Write(manifest.Schema())
			return err
		},
	}
}

// judgedManifest marks errors that lie in a manifest or its files, so that the
// exit code is 1.
func judgedManifest(err error) error {
	var e *manifest.DecodeError
	if errors.As(err, &e) || errors.Is(err, payloadpath.ErrEscapes) || errors.Is(err, manifestbuild.ErrMixed) || errors.Is(err, manifestbuild.ErrNoTiles) {
		return &badFile{err}
	}
	return asInputError(err)
}

// manifestPath returns the path itself, or that of the one manifest in a
// folder; a command line with command and rest around it is proposed for a glTF.
func manifestPath(command, rest, path string) (string, error) {
	if err := refuseUncooked(command, rest, path); err != nil {
		return "", err
	}
	st, err := journal.Stat(path)
	if err != nil || !st.IsDir() {
		return path, err
	}
	found, err := jsonFiles(path)
	if err != nil {
		return "", err
	}
	if len(found) > 1 {
		found = manifestsAmong(found)
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		if scenes := listGLTF(path); len(scenes) > 0 {
			return "", refuseUncooked(command, rest, scenes...)
		}
		return "", fmt.Errorf("%s holds no manifest (*.json); name a file", path)
	}
	return "", fmt.Errorf("%s holds %d manifests; name one of them: %s", path, len(found), nameSome(found))
}

// manifestsAmong leaves out what lies beside manifests, such as reports.
func manifestsAmong(files []string) []string {
	var out []string
	for _, path := range files {
		if m, err := manifest.LoadPlanned(path); err == nil && m.Tiles != nil {
			out = append(out, path)
		}
	}
	return out
}

// jsonFiles lists the .json files of a folder, as the journal of a stopped cook
// says.
func jsonFiles(dir string) ([]string, error) {
	names, err := journal.Names(dir)
	var out []string
	for _, name := range names {
		if filepath.Ext(name) == ".json" {
			out = append(out, filepath.Join(dir, name))
		}
	}
	return out, err
}

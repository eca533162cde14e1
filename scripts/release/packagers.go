package main

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"slices"
	"text/template"
)

//go:embed templates
var templates embed.FS

// packager is a package manager and what it is told.
type packager struct {
	template, name string
	systems        []string // of which it needs all archives
}

var packagers = []packager{
	{"untold.rb.tmpl", "untold.rb", []string{"darwin", "linux"}},
	{"untold.json.tmpl", "untold.json", []string{"windows"}},
}

// writePackager fills a package manager's template with the addresses and
// checksums of the archives, unless some that it needs were not made.
func (r *release) writePackager(p packager) error {
	for _, goos := range p.systems {
		for _, goarch := range []string{"amd64", "arm64"} {
			if !slices.Contains(r.targets, target{goos, goarch}) {
				fmt.Printf("no %s: it needs the archive for %s/%s\n", p.name, goos, goarch)
				return nil
			}
		}
	}
	text, err := r.fill(p)
	if err != nil {
		return err
	}
	return r.write(p.name, text)
}

func (r *release) fill(p packager) ([]byte, error) {
	name := func(goos, goarch string) string {
		if goos == "windows" {
			return r.folder(target{goos, goarch}) + ".zip"
		}
		return r.folder(target{goos, goarch}) + ".tar.gz"
	}
	base := cmp.Or(r.base, fmt.Sprintf("https://%s/releases/download/v%s", r.module, r.version))
	t, err := template.New(p.template).Funcs(template.FuncMap{
		"url":    func(goos, goarch string) string { return base + "/" + name(goos, goarch) },
		"folder": func(goos, goarch string) string { return r.folder(target{goos, goarch}) },
		"sha256": func(goos, goarch string) (string, error) {
			sum := r.sum(name(goos, goarch))
			if sum == "" {
				return "", fmt.Errorf("%s was not made", name(goos, goarch))
			}
			return sum, nil
		},
	}).ParseFS(templates, "templates/"+p.template)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]string{"Version": r.version, "Home": "https://" + r.module})
	return b.Bytes(), err
}

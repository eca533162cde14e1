package main

import (
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/licenses"
)

// The bill of materials is CycloneDX 1.6: what the linker put into a program, as
// `go version -m` shows it, and what the page that it embeds is built of.
type (
	bom struct {
		Schema       string          `json:"$schema"`
		Format       string          `json:"bomFormat"`
		SpecVersion  string          `json:"specVersion"`
		Serial       string          `json:"serialNumber"`
		Version      int             `json:"version"`
		Metadata     bomMetadata     `json:"metadata"`
		Components   []bomComponent  `json:"components"`
		Dependencies []bomDependency `json:"dependencies"`
	}
	bomMetadata struct {
		Timestamp  string        `json:"timestamp"`
		Component  bomComponent  `json:"component"`
		Properties []bomProperty `json:"properties"`
	}
	bomComponent struct {
		Type       string        `json:"type"`
		Ref        string        `json:"bom-ref"`
		Name       string        `json:"name"`
		Version    string        `json:"version"`
		Hashes     []bomHash     `json:"hashes,omitempty"`
		Licenses   []bomLicense  `json:"licenses,omitempty"`
		PURL       string        `json:"purl"`
		Properties []bomProperty `json:"properties,omitempty"`
	}
	bomHash struct {
		Alg     string `json:"alg"`
		Content string `json:"content"`
	}
	bomLicense struct {
		License struct {
			ID string `json:"id"`
		} `json:"license"`
	}
	bomProperty struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
	bomDependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn,omitempty"`
	}
)

// linkedModule is a module that is in a program.
type linkedModule struct{ path, version, sum string }

// bill returns a program's bill of materials.
func (r *release) bill(ctx context.Context, t target, path string, program []byte) ([]byte, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var modules []linkedModule
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, linkedModule{m.Path, m.Version, m.Sum})
	}
	if !r.withoutPage {
		list, err := pageModules(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range list {
			if !slices.ContainsFunc(modules, func(have linkedModule) bool { return have.path == m.path }) {
				modules = append(modules, m)
			}
		}
	}
	b, err := makeBill(r, t, modules, info.GoVersion, sha256.Sum256(program))
	if err != nil {
		return nil, err
	}
	return append(b, '\n'), nil
}

// pageModules are the modules of the program in the page.
func pageModules(ctx context.Context) ([]linkedModule, error) {
	cmd := exec.CommandContext(ctx, goCommand(), "list", "-deps", "-json=Module", "./preview/web/internal/viewer")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list of the page's program: %w", err)
	}
	var list []linkedModule
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			Module *struct {
				Path, Version, Sum string
				Main               bool
			}
		}
		switch err := dec.Decode(&p); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		case p.Module == nil || p.Module.Main:
			continue
		}
		if m := (linkedModule{p.Module.Path, p.Module.Version, p.Module.Sum}); !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
}

// makeBill writes the bill of modules. The serial number follows from the
// program's bytes, so that the same program has the same bill.
func makeBill(r *release, t target, modules []linkedModule, goVersion string, program [sha256.Size]byte) ([]byte, error) {
	ids := licenseIDs(licenses.ThirdParty)
	root := purl(r.module, "v"+r.version)
	b := bom{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Serial: serial(program),
		Metadata: bomMetadata{
			Timestamp: r.commit.Format(time.RFC3339),
			Component: bomComponent{
				Type: "application", Ref: root, Name: r.module, Version: r.version, PURL: root, Licenses: licenseList([]string{"Apache-2.0"}),
				Hashes: []bomHash{{"SHA-256", fmt.Sprintf("%x", program)}},
			},
			Properties: []bomProperty{{"untold:goos", t.goos}, {"untold:goarch", t.goarch}, {"untold:commit", r.hash}},
		},
		Components: []bomComponent{},
	}
	std := linkedModule{"std", strings.TrimPrefix(goVersion, "go"), ""}
	modules = slices.Concat(modules, []linkedModule{std})
	slices.SortFunc(modules, func(a, b linkedModule) int { return strings.Compare(a.path, b.path) })
	var refs []string
	leaves := []bomDependency{}
	for _, m := range modules {
		c := bomComponent{Type: "library", Ref: purl(m.path, m.version), Name: m.path, Version: m.version, PURL: purl(m.path, m.version)}
		found := ids[m.path+" "+m.version]
		if m == std {
			found = []string{"BSD-3-Clause"}
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s %s: no licence of it is known; run go run ./scripts/licenses, and see licenseMarks where the text is a new one", m.path, m.version)
		}
		c.Licenses = licenseList(found)
		if m.sum != "" {
			c.Properties = []bomProperty{{"untold:go-sum", m.sum}}
		}
		b.Components = append(b.Components, c)
		refs = append(refs, c.Ref)
		leaves = append(leaves, bomDependency{Ref: c.Ref})
	}
	b.Dependencies = append([]bomDependency{{root, refs}}, leaves...)
	return json.MarshalIndent(b, "", "  ")
}

func licenseList(ids []string) []bomLicense {
	list := make([]bomLicense, len(ids))
	for i, id := range ids {
		list[i].License.ID = id
	}
	return list
}

// purl is the package address of a Go module.
func purl(path, version string) string {
	return "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// serial makes a UUID (version 8, whose bits are free) of a hash.
func serial(h [sha256.Size]byte) string {
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80
	return fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// licenseMarks tell licences by a sentence that only they have; the texts are
// those of THIRD_PARTY_LICENSES.
var licenseMarks = []struct{ id, mark string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"Apache-2.0", "Licensed under the Apache License, Version 2.0"},
	{"BSD-3-Clause", "endorse or promote"},
	{"BSD-2-Clause", "Redistributions in binary form must reproduce"},
	{"Zlib", "This notice may not be removed or altered from any source"},
	{"MIT", "Permission is hereby granted, free of charge"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software"},
	{"ISC", "Permission to use, copy, modify, and distribute this software"},
	{"HPND", "provided that the above copyright notice appear in all copies"},
	{"CC0-1.0", "CC0 1.0 Universal"},
	{"Unlicense", "This is free and unencumbered software"},
}

// licenseIDs returns the SPDX names of the licences of every module that the
// text of internal/licenses lists ("path version"), sorted.
func licenseIDs(text string) map[string][]string {
	ids := map[string][]string{}
	parts := strings.Split(text, "\n"+strings.Repeat("=", 80)+"\n")
	for _, part := range parts[1:] {
		owners, body, _ := strings.Cut(part, "\n\n")
		body = strings.Join(strings.Fields(body), " ")
		for _, l := range licenseMarks {
			// Those of three clauses have the two of the other.
			if !strings.Contains(body, l.mark) || l.id == "BSD-2-Clause" && strings.Contains(body, "endorse or promote") {
				continue
			}
			for owner := range strings.Lines(owners) {
				name, _, _ := strings.Cut(strings.TrimSpace(owner), ": ")
				if !slices.Contains(ids[name], l.id) {
					ids[name] = append(ids[name], l.id)
					slices.Sort(ids[name])
				}
			}
		}
	}
	return ids
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/licenses"
	"github.com/untoldkit/untold/internal/testfile"
)

const repository = "../.."

// TestCurrent: the file that the binaries hold is what the module graph gives.
func TestCurrent(t *testing.T) {
	want, err := generate(repository)
	if err != nil {
		t.Fatal(err)
	}
	if want != licenses.ThirdParty {
		t.Error("internal/licenses/THIRD_PARTY_LICENSES is out of date: run 'go run ./scripts/licenses'")
	}
}

// TestComplete asks the go command, and not the code that made the file, for
// the modules of both binaries: each is listed and has a text of its own
// version.
func TestComplete(t *testing.T) {
	_, texts, ok := strings.Cut(licenses.ThirdParty, strings.Repeat("=", 80))
	if !ok {
		t.Fatal("no texts")
	}
	for _, cgo := range []string{"0", "1"} {
		cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/untold")
		cmd.Dir = repository
		cmd.Env = append(os.Environ(), "CGO_ENABLED="+cgo)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		modules := strings.Split(strings.TrimSpace(string(out)), "\n")
		if len(modules) < 15 {
			t.Errorf("CGO_ENABLED=%s: only %d modules", cgo, len(modules))
		}
		for _, m := range modules {
			if m != "" && (!strings.Contains(licenses.ThirdParty, "\n  "+m+"\n") || !strings.Contains(texts, "\n"+m+": ")) {
				t.Errorf("CGO_ENABLED=%s: %s has no licence text", cgo, m)
			}
		}
	}
}

// TestNotOnlyModules: what is compiled in besides Go modules.
func TestNotOnlyModules(t *testing.T) {
	for what, words := range map[string]string{
		"Go itself":                   "Copyright 2009 The Go Authors.",
		"GLFW's C library":            "Camilla Löwy",
		"Khronos headers":             "The Khronos Group Inc.",
		"the fonts":                   "Bigelow & Holmes Inc.",
		"code inside compression":     "zstd/internal/xxhash/LICENSE.txt",
		"a notice that must go along": "go.yaml.in/yaml/v3 v3.0.5: NOTICE",
	} {
		if !strings.Contains(licenses.ThirdParty, words) {
			t.Errorf("%s: %q is not in the file", what, words)
		}
	}
}

func TestModuleWithoutALicense(t *testing.T) {
	dir := t.TempDir()
	testfile.Write(t, filepath.Join(dir, "license.go"), "package x\n")
	m := &linked{module: module{Path: "example.com/x", Version: "v1", Dir: dir}, packages: []pkg{{Dir: dir}}}
	if list, err := m.texts(); err == nil || !strings.Contains(err.Error(), "example.com/x v1 has no licence text") {
		t.Errorf("%v, %v", list, err)
	}
}

func TestInSource(t *testing.T) {
	const words = "Permission is hereby granted, free."
	for src, want := range map[string]string{
		"/* no licence */ int x;":                                 "",
		"/* a */\n/*\n * Copyright 2001 A\n * " + words + "\n */": "Copyright 2001 A\n" + words + "\n",
		"/**\n * @page x\n * <pre>\n * Copyright © 2001 A\n * " + words + "\n * </pre>\n * more\n */": "Copyright © 2001 A\n" + words + "\n",
	} {
		if got := inSource(src); got != want {
			t.Errorf("%q: %q, want %q", src, got, want)
		}
	}
}

// TestMakeWritesIt: the file lies beside the binaries.
func TestMakeWritesIt(t *testing.T) {
	b := testfile.Read(t, filepath.Join(repository, "Makefile"))
	for target, folder := range map[string]string{"\nstatic:": "$(BIN)/", "\ncross:": "bin/"} {
		_, rule, _ := strings.Cut(string(b), target)
		rule, _, _ = strings.Cut(rule, "\n\n")
		if !strings.Contains(rule, "cp internal/licenses/THIRD_PARTY_LICENSES LICENSE "+folder) {
			t.Errorf("make%s does not copy the licences", strings.TrimSuffix(target, ":"))
		}
	}
}

package checks

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// instruction is one of a Dockerfile.
type instruction struct{ word, rest string }

// instructions reads a Dockerfile; lines that end with a backslash go on.
func instructions(text string) (list []instruction) {
	text = strings.ReplaceAll(text, "\\\n", " ")
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		list = append(list, instruction{word, strings.Join(strings.Fields(rest), " ")})
	}
	return list
}

// builtOf are the files that make web, static and install leave in the stage that builds,
// of whose recipes the test below sees that they do.
var builtOf = map[string][]string{
	"static":  {"/src/bin/untold", "/src/bin/LICENSE", "/src/bin/THIRD_PARTY_LICENSES"},
	"install": {"/installed/"},
	"mkdir":   {"/empty/tmp"},
	"golang":  {"/etc/ssl/certs/ca-certificates.crt"},
}

// TestDockerfiles: what no container engine has built here names files, stages, targets
// and programs that there are.
func TestDockerfiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository, "deploy", "*Dockerfile"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	makefile := string(testfile.Read(t, filepath.Join(repository, "Makefile")))
	version := regexp.MustCompile(`(?m)^go (\d+\.\d+)`).FindStringSubmatch(string(testfile.Read(t, filepath.Join(repository, "go.mod"))))[1]
	for _, file := range files {
		name := filepath.Base(file)
		stages, built, there := []string{}, []string{}, []string{}
		entry := ""
		for _, x := range instructions(string(testfile.Read(t, file))) {
			words := strings.Fields(x.rest)
			switch x.word {
			case "FROM":
				image, tag, pinned := strings.Cut(words[0], ":")
				if image != "scratch" && (!pinned || tag == "latest") {
					t.Errorf("%s: %s has no version", name, words[0])
				}
				if image == "golang" {
					if !strings.HasPrefix(tag, version+".") {
						t.Errorf("%s: %s, and go.mod says %s", name, words[0], version)
					}
					built = append(built, builtOf["golang"]...)
				}
				if len(words) == 3 && strings.EqualFold(words[1], "as") {
					stages = append(stages, words[2])
				}
				there = nil
			case "COPY":
				from := ""
				for strings.HasPrefix(words[0], "--") {
					if s, ok := strings.CutPrefix(words[0], "--from="); ok {
						from = s
					}
					words = words[1:]
				}
				sources, target := words[:len(words)-1], words[len(words)-1]
				if len(sources) > 1 && !strings.HasSuffix(target, "/") {
					t.Errorf("%s: several files to %s, which is no folder", name, target)
				}
				for _, s := range sources {
					if from == "" {
						if _, err := os.Stat(filepath.Join(repository, filepath.FromSlash(s))); err != nil {
							t.Errorf("%s: COPY %s, which is not there", name, s)
						}
					} else if !slices.Contains(stages, from) || !slices.Contains(built, s) {
						t.Errorf("%s: COPY %s of the stage %s, which nothing has made there (%v)", name, s, from, built)
					}
					at := target
					if strings.HasSuffix(target, "/") {
						at = path.Join(target, path.Base(s))
					}
					there = append(there, at)
					if s == "/installed/" {
						there = append(there, "/usr/bin/untold")
					}
				}
			case "RUN":
				for _, command := range regexp.MustCompile(`&&|\|\||;`).Split(x.rest, -1) {
					words := strings.Fields(command)
					switch words[0] {
					case "make":
						for _, target := range words[1:] {
							if strings.Contains(target, "=") {
								continue
							}
							if !regexp.MustCompile(`(?m)^` + target + `:`).MatchString(makefile) {
								t.Errorf("%s: make %s: there is no such target", name, target)
							}
							built = append(built, builtOf[target]...)
						}
						if strings.Contains(command, "install") && !(slices.Contains(words, "PREFIX=/usr") && slices.Contains(words, "DESTDIR=/installed")) {
							t.Errorf("%s: %s does not install to /installed/usr", name, command)
						}
					case "mkdir":
						built = append(built, builtOf["mkdir"]...)
					case "sh":
						if _, err := os.Stat(filepath.Join(repository, words[1])); err != nil {
							t.Errorf("%s: %s: %v", name, command, err)
						}
					case "go", "apt-get", "rm":
					default:
						t.Errorf("%s: who has %s?", name, words[0])
					}
				}
			case "ENTRYPOINT":
				entry = regexp.MustCompile(`"([^"]*)"`).FindStringSubmatch(x.rest)[1]
			case "WORKDIR", "ENV", "USER":
			default:
				t.Errorf("%s: %s %s: is it right?", name, x.word, x.rest)
			}
		}
		if !slices.Contains(there, entry) {
			t.Errorf("%s: it starts %s, which is not copied (%v)", name, entry, there)
		}
	}
	// What builtOf says of the recipes.
	for _, want := range []string{"-o $(BIN)/untold ./cmd/untold\n\tcp internal/licenses/THIRD_PARTY_LICENSES LICENSE $(BIN)/", "BIN      ?= bin", `DESTDIR="$(DESTDIR)" sh scripts/install.sh`} {
		if !strings.Contains(makefile, want) {
			t.Errorf("the Makefile has no %q any more: see builtOf", want)
		}
	}
}

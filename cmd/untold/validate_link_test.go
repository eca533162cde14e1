package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestValidateLinks: a link that is named stands for what it points at, as it does
// for the commands that show a scene; one that a scene holds, or that lies in a
// folder, leads nowhere.
func TestValidateLinks(t *testing.T) {
	scene, top := cooked(t), t.TempDir()
	link := filepath.Join(top, "link")
	if err := os.Symlink(scene, link); err != nil {
		t.Skip("no links here: ", err)
	}
	whole := execute(t, nil, "validate", scene)
	last := func(r result) string {
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		return lines[len(lines)-1]
	}
	if r := execute(t, nil, "validate", link); r.code != 0 || last(r) != last(whole) {
		t.Errorf("a link to a scene: exit %d: %s%s", r.code, r.stdout, r.err)
	}
	if r := execute(t, nil, "validate", top); r.code != 2 || !strings.Contains(r.err, "no .untold files or manifests") {
		t.Errorf("a folder with a link: exit %d: %s%s", r.code, r.stdout, r.err)
	}
	none := filepath.Join(top, "none")
	if err := os.Symlink("gone", none); err != nil {
		t.Fatal(err)
	}
	if r := execute(t, nil, "validate", none); r.code != 2 || !strings.Contains(r.err, none+" does not exist") {
		t.Errorf("a link to nothing: exit %d: %s%s", r.code, r.stdout, r.err)
	}
	// A scene whose tiles lie behind a link is what the runtime refuses.
	if err := os.Rename(filepath.Join(scene, "tiles"), filepath.Join(top, "tiles")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(top, "tiles"), filepath.Join(scene, "tiles")); err != nil {
		t.Fatal(err)
	}
	if r := execute(t, nil, "validate", link); r.code != 1 || !strings.Contains(r.stdout, "path-escapes") {
		t.Errorf("tiles behind a link: exit %d: %s%s", r.code, r.stdout, r.err)
	}
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// target is a system that a release is built for.
type target struct{ goos, goarch string }

// release is one run of the command.
type release struct {
	targets     []target
	dir, base   string
	withoutPage bool
	dirty       bool

	module  string    // the path in go.mod
	version string    // what the program says, such as 0.2.0
	commit  time.Time // of the commit, in UTC
	hash    string    // of the commit
	scratch string
	sums    []checksum
}

// checksum is a file of the release and its sha256.
type checksum struct{ name, sha256 string }

// page is what untold serve shows, once make web has built it.
const page = "preview/web/page/viewer.wasm.gz"

func (r *release) run(ctx context.Context) (err error) {
	if _, err := r.earlier(); err != nil {
		return err
	}
	if err := r.look(ctx); err != nil {
		return err
	}
	if r.scratch, err = os.MkdirTemp("", "untold-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.scratch)) }()
	shared, err := r.sharedFiles(ctx)
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		if err := r.make(ctx, t, shared); err != nil {
			return fmt.Errorf("%s/%s: %w", t.goos, t.goarch, err)
		}
	}
	for _, p := range packagers {
		if err := r.writePackager(p); err != nil {
			return err
		}
	}
	return r.publish()
}

// look finds out what is released, and refuses what would not be that.
func (r *release) look(ctx context.Context) error {
	if _, err := os.Stat(page); err != nil && !r.withoutPage {
		return fmt.Errorf("the page of untold serve is not built: run make web first, or make release, which does (%w)", err)
	}
	if _, err := os.Stat(page); err == nil && r.withoutPage {
		return errors.New("the page of untold serve is built and would be in the program: leave -without-page out, or run make clean")
	}
	module, err := output(ctx, nil, goCommand(), "list", "-m")
	if err != nil {
		return err
	}
	r.module = module
	status, err := output(ctx, nil, "git", "status", "--porcelain", "--untracked-files=no")
	if err != nil {
		return fmt.Errorf("a release is made of a commit: %w", err)
	}
	if status != "" && !r.dirty {
		return errors.New("there are changes that are not committed; commit them first (-dirty is for trying things out)")
	}
	// The go command writes the commit into programs, but not from a folder that
	// git has linked to a repository elsewhere.
	if st, err := os.Stat(".git"); (err != nil || !st.IsDir()) && !r.dirty {
		return errors.New("this is no clone of its own but a linked work tree; make the release in a clone (-dirty is for trying things out)")
	}
	said, err := output(ctx, nil, "git", "show", "-s", "--format=%H %ct", "HEAD")
	if err != nil {
		return err
	}
	hash, seconds, _ := strings.Cut(said, " ")
	r.hash = hash
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("git says %q of the commit", said)
	}
	r.commit = time.Unix(n, 0).UTC()
	return nil
}

// program builds the static program of a system and returns its path. The
// Makefile's rule does it, so that a release is what everybody builds.
func (r *release) program(ctx context.Context, t target) (string, error) {
	dir := filepath.Join(r.scratch, t.goos+"-"+t.goarch)
	env := append(os.Environ(), "GOOS="+t.goos, "GOARCH="+t.goarch, "MAKEFLAGS=", "MAKELEVEL=", "GOFLAGS=-trimpath")
	_, err := output(ctx, env, "make", "-s", "static", "GO="+goCommand(), "BIN="+dir)
	return filepath.Join(dir, "untold"), err
}

// sharedFiles are those that all archives have: what the program of this machine
// says about itself, and the licences.
func (r *release) sharedFiles(ctx context.Context) ([]entry, error) {
	program, err := r.program(ctx, target{runtime.GOOS, runtime.GOARCH})
	if err != nil {
		return nil, err
	}
	// Nothing of the machine: neither settings of the user nor the date of today.
	env := []string{"HOME=" + r.scratch, "LC_ALL=C", "SOURCE_DATE_EPOCH=" + strconv.FormatInt(r.commit.Unix(), 10)}
	said, err := output(ctx, env, program, "version")
	if err != nil {
		return nil, err
	}
	words := strings.Fields(said)
	if len(words) < 2 || words[0] != "untold" {
		return nil, fmt.Errorf("untold version says %q", said)
	}
	r.version = words[1]
	var list []entry
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "internal/licenses/THIRD_PARTY_LICENSES"} {
		b, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			return nil, err
		}
		list = append(list, entry{name: filepath.Base(name), data: b})
	}
	for shell, name := range map[string]string{"bash": "untold.bash", "zsh": "_untold", "fish": "untold.fish", "powershell": "untold.ps1"} {
		text, err := output(ctx, env, program, "completion", shell)
		if err != nil {
			return nil, err
		}
		list = append(list, entry{name: "completions/" + name, data: []byte(text + "\n")})
	}
	man := filepath.Join(r.scratch, "man")
	if _, err := output(ctx, env, program, "docs", "man", "-o", man); err != nil {
		return nil, err
	}
	pages, err := os.ReadDir(man)
	if err != nil {
		return nil, err
	}
	for _, p := range pages {
		b, err := os.ReadFile(filepath.Join(man, p.Name()))
		if err != nil {
			return nil, err
		}
		list = append(list, entry{name: "man/man1/" + p.Name(), data: b})
	}
	slices.SortFunc(list, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	return list, nil
}

// make writes a system's archive and bill of materials.
func (r *release) make(ctx context.Context, t target, shared []entry) error {
	path, err := r.program(ctx, t)
	if err != nil {
		return err
	}
	program, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	name := "untold"
	if t.goos == "windows" {
		name += ".exe"
	}
	files := append(slices.Clone(shared), entry{name: name, data: program, program: true})
	folder := r.folder(t)
	archive, pack := folder+".tar.gz", packTar
	if t.goos == "windows" {
		archive, pack = folder+".zip", packZip
	}
	packed, err := pack(folder, files, r.commit)
	if err != nil {
		return err
	}
	if err := r.write(archive, packed); err != nil {
		return err
	}
	bill, err := r.bill(ctx, t, path, program)
	if err != nil {
		return err
	}
	return r.write(folder+".cdx.json", bill)
}

// folder is the name of the folder in a system's archive.
func (r *release) folder(t target) string {
	return fmt.Sprintf("untold-%s-%s-%s", r.version, t.goos, t.goarch)
}

// write adds a file to the release, of which publish makes the folder.
func (r *release) write(name string, data []byte) error {
	sum := sha256.Sum256(data)
	r.sums = append(r.sums, checksum{name, fmt.Sprintf("%x", sum)})
	fmt.Printf("%x  %s\n", sum, name)
	return os.WriteFile(filepath.Join(r.scratch, name), data, 0o644)
}

// sum is the sha256 of a file of the release, "" where it was not made.
func (r *release) sum(name string) string {
	for _, s := range r.sums {
		if s.name == name {
			return s.sha256
		}
	}
	return ""
}

// goCommand is the go command that builds: $GO, else go.
func goCommand() string { return cmp.Or(os.Getenv("GO"), "go") }

// output runs a command, in the environment of this one where env is nil, and
// returns what it prints without the spaces around.
func output(ctx context.Context, env []string, name string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = env
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}

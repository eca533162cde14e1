package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/surface"
)

// documentFiles are the pages whose commands are looked at.
func documentFiles(t *testing.T) []string {
	t.Helper()
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(docs) < 20 {
		t.Fatal(docs, err)
	}
	return append(docs, "../../README.md", "../../CONTRIBUTING.md", "../../deploy/README.md", "../../testdata/simulate/README.md")
}

// TestDocuments runs the commands of pages, each page from top to bottom: blocks
// marked as console, whose output is compared with what is shown, and blocks below a
// comment of the form
//
//	<!-- run: city.glb out/city; not serve; exit 0 1 -->
//
// It names what the folder of the block holds at the beginning, see documentRun.input;
// words whose lines are not run, because they do not end, take long, or need what a
// test has not; and the exit codes that the block's commands may have. A block with such a
// comment begins in a folder of its own, another goes on in the folder before it.
func TestDocuments(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil || runtime.GOOS == "windows" {
		t.Skip("pages show lines of a Unix shell")
	}
	shared := newDocumentTools(t)
	ran := 0
	for _, path := range documentFiles(t) {
		blocks := slices.DeleteFunc(blocksOf(t, path), func(b documentBlock) bool { return b.marker == nil && b.language != "console" })
		if len(blocks) == 0 {
			continue
		}
		ran += len(blocks)
		t.Run(filepath.Base(path), func(t *testing.T) {
			r := &documentRun{documentTools: shared, path: path}
			for _, b := range blocks {
				if b.marker != nil || r.dir == "" {
					r.begin(t, b.marker)
				}
				r.block(t, b)
			}
		})
	}
	if ran < 20 {
		t.Errorf("only %d blocks are run", ran)
	}
}

// documentBlock is a piece of code in a page.
type documentBlock struct {
	line     int
	language string // of the fence; empty for indented blocks, too
	marker   *runMarker
	lines    []string
}

// runMarker is what the comment above a block says.
type runMarker struct {
	inputs, not, exit []string
}

var (
	runComment = regexp.MustCompile(`^<!-- run(?:: (.*))? -->$`)
	// meantRun finds what is nearly that: in other case, without colon or blanks, indented,
	// or with something behind it.
	meantRun = regexp.MustCompile(`(?i)^\s*<!-*\s*runs?\b`)
)

// parseMarker reads a comment; nil for other lines. A comment that seems to be meant is
// an error: its block would not be run, and nobody would see it.
func parseMarker(line string) (*runMarker, error) {
	m := runComment.FindStringSubmatch(line)
	if m == nil {
		if meantRun.MatchString(line) {
			return nil, fmt.Errorf("%q is no comment of the form <!-- run: INPUTS; not WORDS; exit CODES -->", line)
		}
		return nil, nil
	}
	marker := &runMarker{exit: []string{"0"}}
	for i, part := range strings.Split(m[1], ";") {
		words := strings.Fields(part)
		switch {
		case len(words) > 1 && words[0] == "not":
			marker.not = words[1:]
		case len(words) > 1 && words[0] == "exit":
			marker.exit = words[1:]
		case i > 0 || slices.Contains([]string{"not", "exit"}, strings.Join(words, " ")):
			return nil, fmt.Errorf("%q: %q is neither not WORDS nor exit CODES", line, strings.TrimSpace(part))
		default:
			marker.inputs = words
		}
	}
	return marker, nil
}

// documentBlocks returns the fenced and the indented blocks of a page. A comment that is
// meant to mark one and does not is an error.
func documentBlocks(text string) (blocks []documentBlock, err error) {
	var marker *runMarker
	fence, indented := false, false
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\n")
		code, is := strings.CutPrefix(line, "    ")
		switch {
		case strings.HasPrefix(line, "```"):
			if fence = !fence; fence {
				blocks = append(blocks, documentBlock{line: number, language: line[3:], marker: marker})
			}
			indented, marker = false, nil
		case fence:
			b := &blocks[len(blocks)-1]
			b.lines = append(b.lines, line)
		case is:
			if !indented {
				blocks = append(blocks, documentBlock{line: number, marker: marker})
				if _, e := parseMarker(code); e != nil {
					err = errors.Join(err, fmt.Errorf("line %d: an indented comment marks nothing: %w", number, e))
				}
			}
			b := &blocks[len(blocks)-1]
			b.lines = append(b.lines, code)
			indented, marker = true, nil
		case line == "" && indented:
			// A block may have an empty line; one that ends is followed by text.
		case line == "":
		default:
			indented = false
			if marker != nil {
				err = errors.Join(err, fmt.Errorf("line %d: the comment above marks no block", number))
			}
			var e error
			if marker, e = parseMarker(line); e != nil {
				err = errors.Join(err, fmt.Errorf("line %d: %w", number, e))
			}
		}
	}
	if marker != nil {
		err = errors.Join(err, fmt.Errorf("line %d: the comment above marks no block", number+1))
	}
	return blocks, err
}

// blocksOf returns the blocks of a page.
func blocksOf(t *testing.T, path string) []documentBlock {
	t.Helper()
	blocks, err := documentBlocks(string(testfile.Read(t, path)))
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return blocks
}

// TestRunComments: a comment that is meant to have a block run, and is mistyped, is told
// of.
func TestRunComments(t *testing.T) {
	const block = "\n\n    untold version\n"
	for _, c := range []struct{ text, want string }{
		{"<!-- run -->" + block, ""},
		{"<!-- run: city.glb; not serve; exit 0 1 -->" + block, ""},
		{"<!-- generated: runs -->" + block, ""},
		{"<!-- run city.glb -->" + block, "no comment of the form"},
		{"<!-- Run: city.glb -->" + block, "no comment of the form"},
		{"<!--run: city.glb-->" + block, "no comment of the form"},
		{"<!-- run: city.glb --> " + block, "no comment of the form"},
		{"<!-- runs: city.glb -->" + block, "no comment of the form"},
		{"<!-- run: city.glb" + block, "no comment of the form"},
		{"<!- run: city.glb -->" + block, "no comment of the form"},
		{"<!-- run: city.glb; no serve -->" + block, `"no serve" is neither`},
		{"<!-- run: city.glb; exit -->" + block, `"exit" is neither`},
		{"<!-- run: city.glb -->\nwords\n", "line 2: the comment above marks no block"},
		{"words\n\n<!-- run: city.glb -->\n", "line 4: the comment above marks no block"},
		{"words\n\n    <!-- run city.glb -->\n    untold version\n", "line 3: an indented comment"},
	} {
		_, err := documentBlocks(c.text)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%q: %v, want %q", c.text, err, c.want)
		}
	}
}

// documentStep is a command with what is shown of its output.
type documentStep struct {
	command string
	shown   []string
}

// steps returns the commands of a block: in one marked as console what follows "$ ",
// else every line; a backslash at the end takes the next one to it.
func (b *documentBlock) steps() (steps []documentStep) {
	console := b.language == "console"
	more := false
	for _, line := range b.lines {
		command, is := strings.CutPrefix(line, "$ ")
		if !console {
			command, is = strings.TrimSpace(line), strings.TrimSpace(line) != "" && !strings.HasPrefix(line, "#")
		}
		switch last := len(steps) - 1; {
		case more:
			steps[last].command += "\n" + line
		case is:
			steps = append(steps, documentStep{command: command})
		case console && last >= 0:
			steps[last].shown = append(steps[last].shown, line)
		}
		more = (more || is) && strings.HasSuffix(line, `\`)
	}
	return steps
}

// documentTools is what all pages share: programs, and inputs that were made once.
type documentTools struct {
	root, bin, made string
}

// newDocumentTools makes the folder with the programs: untold, whose preview is that of
// the test's binary, and a go that runs the repository's programs from any folder.
func newDocumentTools(t *testing.T) *documentTools {
	t.Helper()
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	d := &documentTools{root: root, bin: t.TempDir(), made: t.TempDir()}
	for name, script := range map[string]string{
		"untold": fmt.Sprintf("#!/bin/sh\n[ \"$1\" != preview ] || %s=1 exec '%s' \"$@\"\nexec '%s' \"$@\"\n", asProgram, self, underTest(t)),
		"go": fmt.Sprintf("#!/bin/sh\ntool='%s'/tool-${2##*/}\n[ -x \"$tool\" ] || (cd '%s' && HOME='%s' XDG_CACHE_HOME='%s' '%s' build -o \"$tool\" \"$2\") || exit 1\nshift 2\nexec \"$tool\" \"$@\"\n",
			d.made, root, os.Getenv("HOME"), os.Getenv("XDG_CACHE_HOME"), goTool),
	} {
		testfile.Write(t, filepath.Join(d.bin, name), script)
		if err := os.Chmod(filepath.Join(d.bin, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// sh runs a command in a folder as a user would.
func (d *documentTools) sh(t *testing.T, dir, command string) result {
	t.Helper()
	cmd := exec.Command("sh", "-c", command)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+d.bin+string(filepath.ListSeparator)+os.Getenv("PATH"), "HOME="+d.made, "XDG_CACHE_HOME="+filepath.Join(d.made, "cache"))
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	t.Logf("%.1f s of processors: %s", (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), command)
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// documentRun is the run of a page.
type documentRun struct {
	*documentTools
	path, dir string
	not, exit []string
}

// begin makes a folder with the inputs that a marker names.
func (r *documentRun) begin(t *testing.T, m *runMarker) {
	t.Helper()
	r.dir, r.not, r.exit = t.TempDir(), nil, []string{"0"}
	if err := os.Symlink(r.bin, filepath.Join(r.dir, "bin")); err != nil {
		t.Fatal(err)
	}
	if m == nil {
		return
	}
	r.not, r.exit = m.not, m.exit
	for _, name := range m.inputs {
		r.input(t, name)
	}
}

// input puts what a name means into the folder: a golden container for
// .untold, a pyramid for .obj, a generated scene for .glb (office.glb, forest.glb:
// of that kind; the others: a city), and for what has no extension the scene of that
// name, cooked.
func (r *documentRun) input(t *testing.T, name string) {
	t.Helper()
	target := filepath.Join(r.dir, filepath.FromSlash(name))
	base := filepath.Base(name)
	copied := func(path string) { testfile.Write(t, target, testfile.Read(t, path)) }
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		t.Fatal(err)
	}
	switch filepath.Ext(name) {
	case ".untold":
		if base != "triangle_lz4.untold" {
			base = "triangle_none.untold"
		}
		copied(filepath.Join(r.root, "testdata", "vectors", base))
	case ".obj":
		testfile.Write(t, target, "o roof\nv 0 0 0\nv 4 0 0\nv 4 0 4\nv 0 0 4\nv 2 3 2\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\nf 4 3 2 1\n")
	case ".csv":
		testfile.Write(t, target, "file,name,x,z,yaw\nhouse.glb,No. 1,0,0,\nhouse.glb,No. 2,120,-3,90\n")
	case ".glb":
		copied(r.scene(t, base))
	case "":
		cooked := filepath.Join(r.made, base)
		if _, err := os.Stat(cooked); err != nil {
			r.must(t, r.made, fmt.Sprintf("untold cook '%s' -o '%s' -q --tile-size 60", r.scene(t, base+".glb"), cooked))
		}
		if err := os.CopyFS(target, os.DirFS(cooked)); err != nil {
			t.Fatal(err)
		}
	default:
		t.Fatalf("%s: what is %s?", r.path, name)
	}
}

// scene makes a scene once.
func (r *documentRun) scene(t *testing.T, name string) string {
	t.Helper()
	path := filepath.Join(r.made, name)
	if _, err := os.Stat(path); err != nil {
		flags := "-blocks 1"
		switch name {
		case "office.glb":
			flags += " -kind office -floors 2"
		case "forest.glb":
			flags += " -kind forest"
		}
		r.must(t, r.made, "go run ./scripts/gen -texture-size 16 -detail 0 "+flags+" -o "+name)
	}
	return path
}

func (r *documentRun) must(t *testing.T, dir, command string) {
	t.Helper()
	if got := r.sh(t, dir, command); got.code != 0 {
		t.Fatalf("%s: %s: exit %d\n%s%s", r.path, command, got.code, got.stdout, got.err)
	}
}

// block runs the commands of a block.
func (r *documentRun) block(t *testing.T, b documentBlock) {
	t.Helper()
	for _, s := range b.steps() {
		place := fmt.Sprintf("%s:%d: %s", filepath.Base(r.path), b.line, s.command)
		words := strings.Fields(s.command)
		if slices.ContainsFunc(r.not, func(w string) bool { return slices.Contains(words, w) }) {
			continue
		}
		window := strings.Contains(s.command, "untold preview")
		if window && !preview.Available {
			t.Logf("built without OpenGL (cgo): the rest of the block is left out from %s", place)
			return
		}
		got := r.sh(t, r.dir, s.command)
		if window && strings.Contains(got.err, surface.ErrContext.Error()) {
			t.Logf("no OpenGL without a display here: the rest of the block is left out from %s", place)
			return
		}
		if !slices.Contains(r.exit, strconv.Itoa(got.code)) {
			t.Fatalf("%s: exit %d\n%s%s", place, got.code, got.stdout, got.err)
		}
		if b.language != "console" {
			continue
		}
		printed := got.err + got.stdout
		if err := matches(s.shown, strings.Split(strings.TrimRight(printed, "\n"), "\n")); err != nil {
			t.Errorf("%s: %v; it prints\n%s", place, err, printed)
		}
	}
}

// matches compares lines; "..." stands for any number of them.
func matches(want, got []string) error {
	for len(want) > 0 && want[0] != "..." {
		if len(got) == 0 || got[0] != want[0] {
			return fmt.Errorf("the line %q does not come where it is shown", want[0])
		}
		want, got = want[1:], got[1:]
	}
	if len(want) == 0 {
		if len(got) > 0 {
			return fmt.Errorf("the line %q is not shown", got[0])
		}
		return nil
	}
	var err error
	for skip := range len(got) + 1 {
		if err = matches(want[1:], got[skip:]); err == nil {
			return nil
		}
	}
	return err
}

package ktx2

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

var update = flag.Bool("update", false, "rewrite testdata/reference.tsv by the reference transcoder; see TestReferenceTranscoder")

// raw lists the levels of files: name, level, size, and the hash of what Raw gives.
func raw(t *testing.T, paths []string) string {
	var b strings.Builder
	for _, p := range paths {
		f, err := Parse(testfile.Read(t, p))
		if err != nil {
			t.Errorf("%s: %v", p, err)
			continue
		}
		for level := range f.Levels() {
			img, err := f.Raw(level)
			if err != nil {
				t.Errorf("%s: %v", p, err)
				continue
			}
			w, h := f.Size(level)
			fmt.Fprintf(&b, "%s\t%d\t%d\t%d\t%x\n", filepath.Base(p), level, w, h, sha256.Sum256(img.Pix))
		}
	}
	return b.String()
}

func vectors(t testing.TB) []string {
	paths, err := filepath.Glob("testdata/*.ktx2")
	if err != nil || len(paths) < 12 {
		t.Fatal(paths, err)
	}
	return paths
}

// TestReference: every level of every file has the pixels that the reference
// transcoder gave for it. All but uastc-modes.ktx2 were made by Basis Universal's own
// encoder, of pictures without an origin.
func TestReference(t *testing.T) {
	compareLines(t, string(testfile.Read(t, "testdata/reference.tsv")), raw(t, vectors(t)))
}

func compareLines(t *testing.T, want, got string) {
	t.Helper()
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	if len(w) != len(g) {
		t.Errorf("%d levels, want %d", len(g), len(w))
	}
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			t.Errorf("decoded to\n%s\nthe reference to\n%s", g[i], w[i])
		}
	}
}

// modeBlocks are random blocks of all modes of UASTC, with patterns that exist.
func modeBlocks(each int) []byte {
	// Codes, their bits, and where in a block its pattern lies, of how many.
	modes := [...]struct{ code, bits, at, width, patterns int }{
		{0x01, 4, 0, 0, 0},
		{0x35, 6, 0, 0, 0},
		{0x1d, 5, 20, 5, 30},
		{0x03, 5, 20, 4, 11},
		{0x13, 5, 20, 5, 30},
		{0x0b, 5, 0, 0, 0},
		{0x1b, 5, 0, 0, 0},
		{0x07, 5, 20, 5, 19},
		{0x17, 5, 0, 0, 0},
		{0x0f, 5, 28, 5, 30},
		{0x02, 3, 0, 0, 0},
		{0x00, 2, 0, 0, 0},
		{0x06, 3, 0, 0, 0},
		{0x1f, 5, 0, 0, 0},
		{0x0d, 5, 0, 0, 0},
		{0x05, 7, 0, 0, 0},
		{0x15, 6, 29, 5, 30},
		{0x25, 6, 0, 0, 0},
		{0x09, 4, 0, 0, 0},
	}
	random := rand.NewChaCha8([32]byte{1})
	number := rand.New(random)
	var out []byte
	for _, m := range modes {
		for i := range each {
			var b [16]byte
			random.Read(b[:])
			set := func(at, width, v int) {
				for k := range width {
					b[(at+k)/8] = b[(at+k)/8]&^(1<<((at+k)%8)) | byte(v>>k&1)<<((at+k)%8)
				}
			}
			set(0, m.bits, m.code)
			if m.patterns > 0 {
				n := i
				if n >= m.patterns {
					n = number.IntN(m.patterns)
				}
				set(m.at, m.width, n)
			}
			out = append(out, b[:]...)
		}
	}
	return out
}

// modesFile is a picture of such blocks: one row of 30 for every mode, so that all
// patterns are there.
func modesFile(t *testing.T) []byte {
	const each, modes = 30, 19
	var b bytes.Buffer
	c := Content{
		Width: 4 * each, Height: 4 * modes, Transfer: TransferSRGB, Channel: UASTCRGBA,
		Metadata: map[string]string{KeyWriter: "untold"}, Levels: [][]byte{modeBlocks(each)},
	}
	if err := Write(&b, c); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestModesFile: the file with blocks of all modes is the one that the reference has
// decoded.
func TestModesFile(t *testing.T) {
	const path = "testdata/uastc-modes.ktx2"
	if *update {
		testfile.Write(t, path, modesFile(t))
	}
	if !bytes.Equal(modesFile(t), testfile.Read(t, path)) {
		t.Errorf("%s has other bytes than are written today", path)
	}
}

// TestReferenceTranscoder compares with the transcoder that three.js carries. It
// needs node, in UNTOLD_BASIS a folder in which `npm install three` was run, and
// compares the files of testdata and those in the folder UNTOLD_BASIS_FILES. With
// -update the hashes in testdata are written anew.
func TestReferenceTranscoder(t *testing.T) {
	modules := os.Getenv("UNTOLD_BASIS")
	if modules == "" {
		t.Skip("set UNTOLD_BASIS to a folder in which `npm install three` was run, to compare with the reference transcoder")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("node is not there: ", err)
	}
	transcode := func(paths []string) string {
		script, err := filepath.Abs("testdata/transcode.mjs")
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("node", append([]string{script, filepath.Join(modules, "node_modules/three/examples/jsm/libs/basis")}, paths...)...)
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	want := transcode(vectors(t))
	if *update {
		testfile.Write(t, "testdata/reference.tsv", want)
	}
	compareLines(t, want, raw(t, vectors(t)))
	more, err := filepath.Glob(filepath.Join(os.Getenv("UNTOLD_BASIS_FILES"), "*.ktx2"))
	if err != nil {
		t.Fatal(err)
	}
	if len(more) == 0 || os.Getenv("UNTOLD_BASIS_FILES") == "" {
		return
	}
	slices.Sort(more)
	want = transcode(more)
	compareLines(t, want, raw(t, more))
	t.Logf("%d files, %d levels", len(more), strings.Count(want, "\n"))
}

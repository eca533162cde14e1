package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/untoldkit/untold/internal/licenses"
	"github.com/untoldkit/untold/internal/testfile"
)

// sample is a release with an archive of every system.
func sample() *release {
	r := &release{module: "example.org/untold", version: "1.2.3", commit: time.Unix(1700000000, 0).UTC(), hash: strings.Repeat("a", 40)}
	for t := range strings.FieldsSeq(allTargets) {
		goos, goarch, _ := strings.Cut(t, "/")
		r.targets = append(r.targets, target{goos, goarch})
		for _, suffix := range []string{".tar.gz", ".zip"} {
			r.sums = append(r.sums, checksum{r.folder(target{goos, goarch}) + suffix, goos + "-" + goarch})
		}
	}
	return r
}

// TestArchives: the order of the files does not matter, the program may be run,
// and nothing of the machine is in.
func TestArchives(t *testing.T) {
	at := time.Unix(1700000000, 0).UTC()
	files := []entry{{name: "untold", data: []byte("program"), program: true}, {name: "LICENSE", data: []byte("text")}, {name: "man/man1/untold.1", data: nil}}
	back := slices.Clone(files)
	slices.Reverse(back)
	for name, pack := range map[string]func(string, []entry, time.Time) ([]byte, error){"tar": packTar, "zip": packZip} {
		one, err1 := pack("untold-1", files, at)
		two, err2 := pack("untold-1", back, at)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(name, err)
		}
		if !bytes.Equal(one, two) {
			t.Errorf("%s: the order of the files matters", name)
		}
	}
	b, _ := packTar("untold-1", files, at)
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if !z.ModTime.IsZero() || z.Name != "" {
		t.Errorf("the compression tells %v %q", z.ModTime, z.Name)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if !h.ModTime.Equal(at) || h.Uid != 0 || h.Uname != "" || (h.Mode == 0o755) != (h.Name == "untold-1/untold") {
			t.Errorf("%+v", h)
		}
	}
	if strings.Join(names, " ") != "untold-1/LICENSE untold-1/man/man1/untold.1 untold-1/untold" {
		t.Error(names)
	}
	b, _ = packZip("untold-1", files, at)
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	if f := r.File[2]; f.Name != "untold-1/untold" || f.Mode() != 0o755 || !f.Modified.Equal(at) {
		t.Errorf("%+v", f.FileHeader)
	}
}

func someBill(t *testing.T) []byte {
	t.Helper()
	modules := []linkedModule{{"github.com/spf13/cobra", "v1.10.2", "h1:x"}, {"github.com/google/uuid", "v1.6.0", ""}}
	b, err := makeBill(sample(), target{"linux", "amd64"}, modules, "go1.26.8", sha256.Sum256(nil))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBill(t *testing.T) {
	var b bom
	if err := json.Unmarshal(someBill(t), &b); err != nil {
		t.Fatal(err)
	}
	var refs []string
	for _, c := range b.Components {
		refs = append(refs, c.Ref+" "+c.Licenses[0].License.ID)
	}
	want := []string{"pkg:golang/github.com/google/uuid@v1.6.0 BSD-3-Clause", "pkg:golang/github.com/spf13/cobra@v1.10.2 Apache-2.0", "pkg:golang/std@1.26.8 BSD-3-Clause"}
	if !slices.Equal(refs, want) {
		t.Error(refs)
	}
	if b.Serial != "urn:uuid:e3b0c442-98fc-8c14-9afb-f4c8996fb924" || b.Metadata.Timestamp != "2023-11-14T22:13:20Z" {
		t.Errorf("%s %s", b.Serial, b.Metadata.Timestamp)
	}
	if _, err := makeBill(sample(), target{"linux", "amd64"}, []linkedModule{{"example.org/x", "v1.0.0", ""}}, "go1", [32]byte{}); err == nil || !strings.Contains(err.Error(), "no licence of it is known") {
		t.Error(err)
	}
}

// TestBillHasTheSchema: make lint-packaging names the folder of schemas.
func TestBillHasTheSchema(t *testing.T) {
	dir := os.Getenv("UNTOLD_CYCLONEDX")
	if dir == "" {
		t.Skip("UNTOLD_CYCLONEDX names no folder of schemas; make lint-packaging does")
	}
	c := jsonschema.NewCompiler()
	for name, file := range map[string]string{"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json"} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(testfile.Read(t, filepath.Join(dir, file))))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("http://cyclonedx.org/schema/"+name, doc); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := c.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(someBill(t)))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(doc); err != nil {
		t.Error(err)
	}
}

// TestLicensesHaveNames: every module whose text is shipped has an SPDX name.
func TestLicensesHaveNames(t *testing.T) {
	ids := licenseIDs(licenses.ThirdParty)
	list, _, _ := strings.Cut(licenses.ThirdParty, strings.Repeat("=", 80))
	n := 0
	for line := range strings.Lines(list) {
		if name, ok := strings.CutPrefix(line, "  "); ok {
			n++
			if name = strings.TrimSpace(name); len(ids[name]) == 0 {
				t.Errorf("%s has no licence by name", name)
			}
		}
	}
	if n < 20 {
		t.Errorf("%d modules", n)
	}
	for name, want := range map[string]string{
		"github.com/dustin/go-humanize v1.0.1": "MIT", "github.com/russross/blackfriday/v2 v2.1.0": "BSD-2-Clause",
		"go.yaml.in/yaml/v3 v3.0.5": "Apache-2.0 MIT", "golang.org/x/sys v0.49.0": "BSD-3-Clause",
	} {
		if got := strings.Join(ids[name], " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestPackagers fills the templates; UNTOLD_RELEASE_SAMPLES keeps what comes out.
func TestPackagers(t *testing.T) {
	r := sample()
	for _, p := range packagers {
		text, err := r.fill(p)
		if err != nil {
			t.Fatal(err)
		}
		if dir := os.Getenv("UNTOLD_RELEASE_SAMPLES"); dir != "" {
			testfile.Write(t, filepath.Join(dir, p.name), text)
		}
		for _, goos := range p.systems {
			suffix := map[string]string{"windows": ".zip"}[goos]
			if suffix == "" {
				suffix = ".tar.gz"
			}
			for _, goarch := range []string{"amd64", "arm64"} {
				url, sum := "https://example.org/untold/releases/download/v1.2.3/untold-1.2.3-"+goos+"-"+goarch+suffix, goos+"-"+goarch
				_, after, ok := strings.Cut(string(text), `"`+url+`"`)
				if !ok || !strings.Contains(strings.Join(strings.SplitN(after, "\n", 3)[:2], ""), `"`+sum+`"`) {
					t.Errorf("%s: %s and its checksum are not together", p.name, url)
				}
			}
		}
		if strings.HasSuffix(p.name, ".json") && !json.Valid(text) {
			t.Errorf("%s is no JSON", p.name)
		}
	}
	r.sums = nil
	if _, err := r.fill(packagers[0]); err == nil {
		t.Error("a formula without a checksum")
	}
}

// TestFolder: only files of an earlier release are replaced, and a folder with anything
// else in it stays as it is.
func TestFolder(t *testing.T) {
	const archive, formula = "untold-1.2.2-linux-amd64.tar.gz", "untold.rb"
	sum := strings.Repeat("0", 64) + "  "
	sums := sum + archive + "\n" + sum + formula + "\n"
	for _, c := range []struct {
		name  string
		files map[string]string // below the folder; nil for no folder
		err   string
	}{
		{"none", nil, ""},
		{"empty", map[string]string{}, ""},
		{"a release", map[string]string{archive: "a", formula: "b", "SHA256SUMS": sums}, ""},
		{"a release without a file", map[string]string{formula: "b", "SHA256SUMS": sums}, ""},
		{"a file of others", map[string]string{archive: "a", formula: "b", "SHA256SUMS": sums, "notes.txt": "c"}, "notes.txt"},
		{"a folder of others", map[string]string{archive: "a", "SHA256SUMS": sums, "kept/notes.txt": "c"}, "kept"},
		{"a folder with a name of ours", map[string]string{archive + "/notes.txt": "c", "SHA256SUMS": sums}, archive},
		{"no list", map[string]string{archive: "a"}, "SHA256SUMS"},
		{"a list of others", map[string]string{"debian.iso": "a", "SHA256SUMS": sum + "debian.iso\n"}, "debian.iso"},
		{"a list that leads out", map[string]string{archive: "a", "SHA256SUMS": sums + sum + "../untold.rb\n"}, "../untold.rb"},
		{"no sums", map[string]string{archive: "a", "SHA256SUMS": archive + "\n"}, "SHA256SUMS"},
		{"an empty list", map[string]string{"SHA256SUMS": ""}, "SHA256SUMS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			top := t.TempDir()
			dir := filepath.Join(top, "out")
			testfile.Write(t, filepath.Join(top, formula), "outside")
			if c.files != nil {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range c.files {
				testfile.Write(t, filepath.Join(dir, filepath.FromSlash(name)), text)
			}
			r := &release{dir: dir, scratch: t.TempDir()}
			if err := r.write("untold-1.2.3-linux-amd64.tar.gz", []byte("new")); err != nil {
				t.Fatal(err)
			}
			err := r.publish()
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) || !strings.Contains(err.Error(), dir) {
					t.Errorf("%v", err)
				}
				// It is refused before there is work, too.
				if early := r.run(context.Background()); early == nil || early.Error() != err.Error() {
					t.Errorf("run says %v", early)
				}
				for name, text := range c.files {
					if got := testfile.Read(t, filepath.Join(dir, filepath.FromSlash(name))); string(got) != text {
						t.Errorf("%s is %q", name, got)
					}
				}
			} else {
				if err != nil {
					t.Fatal(err)
				}
				if got := list(t, dir); got != "SHA256SUMS untold-1.2.3-linux-amd64.tar.gz" {
					t.Errorf("there is %s", got)
				}
				// What was written can be replaced.
				if err := r.publish(); err != nil {
					t.Error(err)
				}
			}
			if got := list(t, top); got != "out "+formula {
				t.Errorf("beside the folder there is %s", got)
			}
		})
	}
	file := testfile.Write(t, filepath.Join(t.TempDir(), "out"), "text")
	if err := (&release{dir: file}).run(context.Background()); err == nil || !strings.Contains(err.Error(), "is no folder") {
		t.Error(err)
	}
	// Every name of a release is known to be one.
	r := sample()
	for _, s := range r.sums {
		if !releaseFile.MatchString(s.name) {
			t.Errorf("%s is none of ours", s.name)
		}
	}
	for _, p := range packagers {
		if !releaseFile.MatchString(p.name) {
			t.Errorf("%s is none of ours", p.name)
		}
	}
}

// list has the names in a folder, in order.
func list(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

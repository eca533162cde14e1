package blob_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/blob/placetest"
)

func folder(t *testing.T) (*blob.Folder, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "place")
	f, err := blob.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	return f, dir
}

func TestFolder(t *testing.T) {
	f, _ := folder(t)
	placetest.Run(t, f, 1<<20)
}

// TestFolderKeepsLinksOut: neither a link to a file nor one to a folder leads out, or
// is replaced, listed or removed.
func TestFolderKeepsLinksOut(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	f, dir := folder(t)
	placetest.Put(t, f, "in/a", "x")
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"file": secret, "folder": outside, "inner": filepath.Join(dir, "in"), "up": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range []string{"file", "folder/secret", "folder/new", "inner/a", "up/x"} {
		_, _, get := f.Get(t.Context(), key)
		_, stat := f.Stat(t.Context(), key)
		put, del := f.Put(t.Context(), key, strings.NewReader("y"), 1, blob.PutOptions{}), f.Delete(t.Context(), key)
		for _, err := range []error{get, stat, put, del} {
			if !errors.Is(err, blob.ErrKey) || !strings.Contains(err.Error(), "is a link") {
				t.Errorf("%s: %v", key, err)
			}
		}
	}
	if got := placetest.Keys(t, f, ""); len(got) != 1 || got[0] != "in/a" {
		t.Error(got)
	}
	if b, err := os.ReadFile(secret); string(b) != "secret" {
		t.Error(string(b), err)
	}
}

func TestFolderIsNone(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.OpenFolder(file); err == nil || !strings.Contains(err.Error(), "no folder") {
		t.Error(err)
	}
	f, _ := folder(t)
	placetest.Put(t, f, "a", "x")
	if err := f.Put(t.Context(), "a/b", strings.NewReader("x"), 1, blob.PutOptions{}); err == nil {
		t.Error("a file became a folder")
	}
	placetest.Put(t, f, "d/b", "x")
	if _, _, err := f.Get(t.Context(), "d"); err == nil {
		t.Error("a folder was opened")
	}
	if err := f.Delete(t.Context(), "d"); err != nil {
		t.Error(err)
	}
	if got := placetest.Keys(t, f, ""); len(got) != 2 {
		t.Error(got)
	}
}

func TestFolderFile(t *testing.T) {
	f, dir := folder(t)
	placetest.Put(t, f, "a/b", "x")
	p, err := f.File("a/b")
	if err != nil || p != filepath.Join(dir, "a", "b") {
		t.Error(p, err)
	}
	if err := os.Link(p, filepath.Join(t.TempDir(), "linked")); err != nil {
		t.Error(err)
	}
	if _, err := f.File("../b"); !errors.Is(err, blob.ErrKey) {
		t.Error(err)
	}
}

// TestFolderLeavesNothing: a put that fails leaves neither a temporary file nor the
// object, and an older one as it was.
func TestFolderLeavesNothing(t *testing.T) {
	f, dir := folder(t)
	placetest.Put(t, f, "a", "old")
	for _, o := range []blob.PutOptions{{}, {IfAbsent: true}} {
		if err := f.Put(t.Context(), "a", strings.NewReader("new"), 10, o); err == nil {
			t.Error("short content was stored")
		}
	}
	if got, err := blob.Read(t.Context(), f, "a", 10); string(got) != "old" {
		t.Errorf("%q, %v", got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
}

func TestParseAddress(t *testing.T) {
	for text, want := range map[string]blob.Address{
		"s3://bucket":             {Bucket: "bucket"},
		"s3://bucket/":            {Bucket: "bucket"},
		"s3://my.bucket-1/a/b/":   {Bucket: "my.bucket-1", Prefix: "a/b/"},
		"s3://bucket/scenes/city": {Bucket: "bucket", Prefix: "scenes/city/"},
		"out/city":                {Folder: "out/city"},
		"/srv/x":                  {Folder: "/srv/x"},
		`C:\scenes`:               {Folder: `C:\scenes`},
		"./s3:/x":                 {Folder: "./s3:/x"},
	} {
		got, err := blob.ParseAddress(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
		if again, err := blob.ParseAddress(got.String()); err != nil || again != got {
			t.Errorf("%q: %+v, %v", got, again, err)
		}
	}
	for _, text := range []string{"", "s3://", "s3:///a", "s3://ab", "s3://Bucket/a", "s3://-bucket", "s3://bucket/a//b", "s3://bucket/../b", "http://host/a", "gs://bucket/a", "s3://bucket?x/a"} {
		if a, err := blob.ParseAddress(text); err == nil {
			t.Errorf("%q: %+v", text, a)
		}
	}
}

func TestErrorSaysWhere(t *testing.T) {
	e := &blob.Error{Op: "put", Place: "s3://b/p", Key: "a/b", Kind: blob.ErrDenied, Err: errors.New("403"), Hint: "log in"}
	if got := e.Error(); got != "put s3://b/p/a/b: access denied: 403: log in" {
		t.Error(got)
	}
	if !errors.Is(e, blob.ErrDenied) || errors.Is(e, blob.ErrExists) {
		t.Error("kind")
	}
}

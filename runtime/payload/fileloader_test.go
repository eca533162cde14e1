package payload_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/manifest/payloadpath"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Size and content hash are checked, and no path leads out of the folder.
// Paths of a manifest that lead out of its folder are refused, also through
// links, before anything is opened.
func TestPathsStayInTheFolder(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "a.untold")
	size := fake.WriteTriangles(t, outside, format.FileTile, format.ModeNone, 1)
	if err := os.Symlink(outside, filepath.Join(dir, "link.untold")); err != nil {
		t.Skipf("no links: %v", err)
	}
	l := payload.NewFileLoader(1)
	for _, path := range []string{"../a.untold", "/etc/passwd", "tiles/../../a.untold", `..\a.untold`, "C:/a.untold", "file:///a.untold", "https://example.com/a.untold", "link.untold"} {
		r := fake.Ask(t, l, payload.Request{Dir: dir, Path: path, Size: size})
		if !errors.Is(r.Err, payloadpath.ErrEscapes) {
			t.Errorf("%s: %v", path, r.Err)
		}
	}
	l.Close()
}

func TestFileLoaderRefuses(t *testing.T) {
	dir := t.TempDir()
	size := fake.WriteTriangles(t, filepath.Join(dir, "tiles/a.untold"), format.FileTile, format.ModeNone, 1)
	data, err := os.ReadFile(filepath.Join(dir, "tiles/a.untold"))
	if err != nil {
		t.Fatal(err)
	}
	damaged := bytes.Clone(data)
	damaged[len(damaged)-1] ^= 1
	for name, content := range map[string][]byte{"damaged": damaged, "short": data[:100], "empty": nil} {
		if err := os.WriteFile(filepath.Join(dir, "tiles", name+".untold"), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	l := payload.NewFileLoader(2)
	for _, c := range []struct {
		name string
		req  payload.Request
		want error // nil: any error
	}{
		{"size", payload.Request{Path: "tiles/a.untold", Size: size + 1}, payload.ErrPayload},
		{"hash", payload.Request{Path: "tiles/damaged.untold"}, finding.Code("hash-mismatch")},
		{"short", payload.Request{Path: "tiles/short.untold"}, nil},
		{"empty", payload.Request{Path: "tiles/empty.untold"}, nil},
		{"missing", payload.Request{Path: "tiles/none.untold"}, fs.ErrNotExist},
		{"outside", payload.Request{Path: "../a.untold"}, payloadpath.ErrEscapes},
		{"cancelled", payload.Request{Path: "tiles/a.untold", Context: cancelled}, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.req.Dir = dir
			r := fake.Ask(t, l, c.req)
			if r.Err == nil || c.want != nil && !errors.Is(r.Err, c.want) {
				t.Errorf("%v, want %v", r.Err, c.want)
			}
		})
	}
	good := fake.Ask(t, l, payload.Request{Dir: dir, Path: "tiles/a.untold", Size: size})
	if good.Err != nil || good.Nodes != 1 || good.GeometryBytes == 0 {
		t.Fatalf("%+v", good)
	}
	good.Asset.Release()
	good.Asset.Release()
	local := fake.Ask(t, l, payload.Request{Local: payload.Fetched{File: filepath.Join(dir, "tiles/a.untold")}})
	if local.Err != nil {
		t.Fatal(local.Err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if r := fake.Ask(t, l, payload.Request{Dir: dir, Path: "tiles/a.untold"}); !errors.Is(r.Err, payload.ErrClosed) {
		t.Errorf("a closed loader answered %v", r.Err)
	}
}

func TestFileLoaderReusesBuffers(t *testing.T) {
	dir := t.TempDir()
	fake.WriteTriangles(t, filepath.Join(dir, "a.untold"), format.FileTile, format.ModeNone, 1)
	l := payload.NewFileLoader(1)
	defer l.Close()
	for range 20 {
		r := fake.Ask(t, l, payload.Request{Dir: dir, Path: "a.untold"})
		if r.Err != nil || len(r.Asset.Geometry.Vertices) != 3*vertex.Size {
			t.Fatal(r.Err)
		}
		r.Asset.Release()
		if r.Asset.Geometry.Vertices != nil {
			t.Fatal("a released asset still has its buffers")
		}
	}
}

func TestCompletionsAfterClose(t *testing.T) {
	c := payload.NewCompletions()
	released := 0
	asset := func() *payload.Asset { return payload.NewAsset(func() { released++ }) }
	c.Loaded(1, payload.Result{Asset: asset()})
	c.Close()
	c.Loaded(2, payload.Result{Asset: asset()})
	if released != 2 {
		t.Errorf("%d assets released, want 2", released)
	}
}

// TestFileLoaderAnswersWithWhatIsKept: as long as the content is the same, also in a file
// that was written again, and never with another content.
func TestFileLoaderAnswersWithWhatIsKept(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.untold")
	fake.WriteTriangles(t, path, format.FileTile, format.ModeNone, 1)
	l := payload.NewFileLoader(1)
	defer l.Close()
	ask := func(kept *payload.Asset) *payload.Asset {
		t.Helper()
		r := fake.Ask(t, l, payload.Request{Dir: dir, Path: "a.untold", Kept: kept})
		if r.Err != nil || r.Nodes != len(r.Asset.Layout().Nodes) || r.GeometryBytes != r.Asset.CPUBytes() {
			t.Fatalf("%+v", r)
		}
		return r.Asset
	}
	first := ask(nil)
	if a := ask(first); !a.Shares(first) {
		t.Error("the same file is read again")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	fake.Write(t, path, data)
	if a := ask(first); !a.Shares(first) {
		t.Error("the same content is read again")
	}
	fake.WriteTriangles(t, path, format.FileTile, format.ModeNone, 2)
	if a := ask(first); a.Shares(first) || a.Version == first.Version {
		t.Error("a file with another content is taken for the one that is kept")
	}
}

package doctor

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// fine is a machine that lacks nothing.
func fine() Facts {
	return Facts{
		Program: "untold 1", Usable: 4, Machine: 4, Memory: Memory{Total: 16 << 30, Room: 12 << 30}, Files: 1 << 20,
		Temp: Folder{Path: "/tmp", Free: 50 << 30}, Cache: Folder{Path: "/cache", Free: 50 << 30, Used: 1e6, Budget: 5e8},
		Preview: "/bin/untold-preview", Graphics: Graphics{"Mesa", "llvmpipe (LLVM 15)", "4.5 (Core Profile)"}, Display: ":0",
		Server: &Server{Address: "https://example.org/a.json", Bytes: 2000, Tiles: 3, Took: 40 * time.Millisecond},
	}
}

func TestFine(t *testing.T) {
	f := fine()
	list := Judge(&f, Names)
	var names []string
	for _, c := range list {
		names = append(names, c.Name)
		if c.Status != OK || c.Remedy != "" || c.Found == "" {
			t.Errorf("%+v", c)
		}
	}
	if !slices.Equal(names, Names) {
		t.Errorf("%v, want %v", names, Names)
	}
	f.Server = nil
	if list := Judge(&f, nil); len(list) != len(Names)-1 {
		t.Errorf("%d checks without a server", len(list))
	}
}

func TestJudge(t *testing.T) {
	bad := errors.New("it is broken")
	for _, c := range []struct {
		name, check string
		change      func(*Facts)
		status      Status
		says        string
	}{
		{"fewer processors", "processors", func(f *Facts) { f.Usable = 2 }, OK, "2 of 4"},
		{"memory unknown", "memory", func(f *Facts) { f.Memory = Memory{} }, OK, "not known"},
		{"a limit", "memory", func(f *Facts) { f.Memory.Limit = 13 << 30 }, OK, "limit of the control group 13.96 GB"},
		{"a limit above the machine", "memory", func(f *Facts) { f.Memory.Limit = 99 << 30 }, OK, "in the machine"},
		{"little memory", "memory", func(f *Facts) { f.Memory.Room = 900 << 20 }, Warn, "943.7 MB"},
		{"no memory", "memory", func(f *Facts) { f.Memory.Room = 100 << 20 }, Fail, "raise the limit"},
		{"files unknown", "files", func(f *Facts) { f.Files = 0 }, OK, "no limit is known"},
		{"any files", "files", func(f *Facts) { f.Files = 1<<64 - 1 }, OK, "any number"},
		{"few files", "files", func(f *Facts) { f.Files = 256 }, Warn, "ulimit -n"},
		{"no files", "files", func(f *Facts) { f.Files = 20 }, Fail, "ulimit -n"},
		{"no temporary folder", "temporary", func(f *Facts) { f.Temp.Err = bad }, Fail, "TMPDIR"},
		{"a full disk", "temporary", func(f *Facts) { f.Temp.Free = 5e6 }, Warn, "5.0 MB free"},
		{"no cache", "cache", func(f *Facts) { f.Cache.Err = bad }, Warn, "--cache-dir"},
		{"a small disk", "cache", func(f *Facts) { f.Cache.Free = 1e8 }, Warn, "--cache-budget"},
		{"a full cache", "cache", func(f *Facts) { f.Cache.Free, f.Cache.Used = 1e8, 45e7 }, OK, "450.0 MB of 500.0 MB"},
		{"no page", "page", func(f *Facts) { f.Page = bad }, Warn, "make build"},
		{"no preview", "preview", func(f *Facts) { f.NoPreview = bad }, Warn, "it is broken"},
		{"no preview for OpenGL", "opengl", func(f *Facts) { f.NoPreview = bad }, Warn, "not asked"},
		{"no OpenGL", "opengl", func(f *Facts) { f.NoGraphics = bad }, Warn, "it is broken"},
		{"software", "opengl", func(*Facts) {}, OK, "4.5 (Core Profile); llvmpipe (LLVM 15); Mesa (drawn by the processor)"},
		{"a card", "opengl", func(f *Facts) { f.Graphics = Graphics{"", "Card 5", "4.6"} }, OK, "4.6; Card 5"},
		{"no display", "display", func(f *Facts) { f.Display, f.NoDisplay = "", bad }, Warn, "--headless"},
		{"a dead display", "display", func(f *Facts) { f.NoDisplay = bad }, Warn, ":0 does not answer"},
		{"no server", "server", func(f *Facts) { f.Server.Err = bad }, Fail, "it is broken"},
	} {
		f := fine()
		c.change(&f)
		for _, got := range Judge(&f, nil) {
			if got.Name != c.check {
				continue
			}
			if got.Status != c.status || !strings.Contains(got.Found+"\n"+got.Remedy, c.says) {
				t.Errorf("%s: %+v", c.name, got)
			}
			if got.Status != OK && got.Remedy == "" {
				t.Errorf("%s: no remedy", c.name)
			}
		}
		for _, got := range Judge(&f, []string{c.check}) {
			if got.Name == c.check && c.status == Warn && got.Status != Fail {
				t.Errorf("%s: %s although it is needed", c.name, got.Status)
			}
		}
	}
}

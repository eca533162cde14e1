// Package doctor judges what a machine has for the program: it is given facts and
// says of each whether it is in order, and what to do where it is not. It looks at
// nothing itself.
package doctor

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/untoldkit/untold/internal/human"
)

// Status is how a check ended.
type Status string

// Statuses.
const (
	OK   Status = "ok"
	Warn Status = "warn" // some commands cannot do all that they could
	Fail Status = "fail" // commands fail, or what was asked for is not there
)

// Check is one thing that was judged.
type Check struct {
	Name   string `json:"name"` // one of Names
	Status Status `json:"status"`
	Found  string `json:"found"`            // a phrase
	Remedy string `json:"remedy,omitempty"` // what to install or do; empty where nothing is to be done
}

// Names are the checks in their order. Those of the server are made only where
// an address was given.
var Names = []string{"program", "processors", "memory", "files", "temporary", "cache", "page", "preview", "opengl", "display", "server"}

// Facts are what is known of a machine. Errors stand for what could not be had.
type Facts struct {
	Program  string // version, toolchain and system
	Usable   int    // processors that the program may use
	Machine  int    // processors of the machine
	Memory   Memory
	Files    uint64 // files that may be open at a time; 0 is not known
	Temp     Folder
	Cache    Folder
	Page     error  // nil: the page of untold serve is embedded
	Preview  string // the program that has the preview; empty with NoPreview
	Graphics Graphics
	Display  string // its name, empty for none
	Server   *Server

	NoPreview  error // why there is none
	NoGraphics error // why OpenGL cannot be had
	NoDisplay  error // why it cannot be used
}

// Memory is main memory in bytes; 0 is not known.
type Memory struct {
	Total int64 // of the machine
	Limit int64 // of the control group
	Room  int64 // what a cook may count on now, swap and limits of the address space included
}

// Folder is a folder that commands write to.
type Folder struct {
	Path   string
	Err    error // it cannot be written to
	Free   int64 // bytes on its disk; 0 is not known
	Used   int64 // bytes that the cache has
	Budget int64 // bytes that it may have; 0 for none
}

// Graphics is what OpenGL says of itself.
type Graphics struct {
	Vendor   string `json:"vendor"`
	Renderer string `json:"renderer"`
	Version  string `json:"version"`
}

// Server is what a manifest's address answered.
type Server struct {
	Address string // without secrets
	Err     error
	Bytes   int64
	Tiles   int
	Took    time.Duration
}

// Bounds of the judgement.
const (
	littleMemory = 1 << 30   // bytes: scenes are cooked slowly
	noMemory     = 128 << 20 // bytes: hardly any is
	fewFiles     = 1024
	noFiles      = 64
	littleSpace  = 1 << 30 // bytes for temporary files
)

// Judge returns the checks in the order of Names. A warning of those that are
// needed is a failure.
func Judge(f *Facts, needed []string) []Check {
	list := []Check{
		{"program", OK, f.Program, ""},
		{"processors", OK, processors(f), ""},
		memory(f.Memory),
		files(f.Files),
		temporary(f.Temp),
		cache(f.Cache),
		page(f.Page),
		preview(f),
		opengl(f),
		display(f),
	}
	if f.Server != nil {
		list = append(list, server(f.Server))
	}
	for i := range list {
		if c := &list[i]; c.Status == Warn && slices.Contains(needed, c.Name) {
			c.Status = Fail
		}
	}
	return list
}

func processors(f *Facts) string {
	if f.Usable < f.Machine {
		return fmt.Sprintf("%d of %d, as many as the program may use", f.Usable, f.Machine)
	}
	return fmt.Sprint(f.Usable)
}

func memory(m Memory) Check {
	found := "not known"
	if m.Room > 0 {
		found = human.Bytes(m.Room) + " to be had now"
	}
	if m.Total > 0 {
		found += ", " + human.Bytes(m.Total) + " in the machine"
	}
	if m.Limit > 0 && (m.Total == 0 || m.Limit < m.Total) {
		found += ", limit of the control group " + human.Bytes(m.Limit)
	}
	c := Check{"memory", OK, found, ""}
	switch {
	case m.Room == 0:
	case m.Room < noMemory:
		c.Status, c.Remedy = Fail, "end other programs, or raise the limit of the control group or container"
	case m.Room < littleMemory:
		c.Status, c.Remedy = Warn, "large scenes are cooked slowly in so little, by parts; end other programs, or raise the limit"
	}
	return c
}

func files(n uint64) Check {
	c := Check{"files", OK, fmt.Sprintf("%s may be open at a time", human.Count(int(min(n, 1<<31)))), ""}
	const raise = "raise the limit: ulimit -n 4096, or LimitNOFILE= of a service"
	switch {
	case n == 0:
		c.Found = "no limit is known"
	case n > 1<<30:
		c.Found = "any number may be open at a time"
	case n < noFiles:
		c.Status, c.Remedy = Fail, raise
	case n < fewFiles:
		c.Status, c.Remedy = Warn, raise
	}
	return c
}

// space is what a folder's disk has, for the end of a phrase.
func space(f Folder) string {
	if f.Free == 0 {
		return ""
	}
	return ", " + human.Bytes(f.Free) + " free"
}

func temporary(f Folder) Check {
	c := Check{"temporary", OK, f.Path + space(f), ""}
	switch {
	case f.Err != nil:
		return Check{"temporary", Fail, f.Err.Error(), "name a folder that can be written to: TMPDIR=DIR"}
	case f.Free > 0 && f.Free < littleSpace:
		c.Status, c.Remedy = Warn, "scenes that are larger than memory, and untold preview of a glTF, need room there: free some, or name another folder with TMPDIR=DIR"
	}
	return c
}

func cache(f Folder) Check {
	c := Check{"cache", OK, fmt.Sprintf("%s, %s of %s used%s", f.Path, human.Bytes(f.Used), human.Bytes(f.Budget), space(f)), ""}
	switch {
	case f.Err != nil:
		return Check{"cache", Warn, f.Err.Error(), "scenes at an address need it: name a folder that can be written to with --cache-dir DIR or UNTOLD_CACHE_DIR"}
	case f.Free > 0 && f.Free < f.Budget-f.Used:
		c.Status, c.Remedy = Warn, "the disk is full before the budget is: free some, or set --cache-budget or UNTOLD_CACHE_BUDGET lower"
	}
	return c
}

func page(err error) Check {
	if err != nil {
		return Check{"page", Warn, "not in this program: untold serve lists scenes, and shows none", "make build, in a copy of the repository, makes a program with the page; archives of releases have it"}
	}
	return Check{"page", OK, "untold serve shows scenes in a browser", ""}
}

func preview(f *Facts) Check {
	if f.NoPreview != nil {
		return Check{"preview", Warn, f.NoPreview.Error(), "untold preview needs it: make build makes both programs; in a browser untold serve shows scenes without"}
	}
	return Check{"preview", OK, f.Preview, ""}
}

// software are names of renderers that draw on the processor.
var software = []string{"llvmpipe", "softpipe", "swrast", "swiftshader", "software"}

func opengl(f *Facts) Check {
	switch {
	case f.NoPreview != nil:
		return Check{"opengl", Warn, "not asked: the preview, which would use it, is not there", "see preview"}
	case f.NoGraphics != nil:
		return Check{"opengl", Warn, f.NoGraphics.Error(), graphicsRemedy(runtime.GOOS)}
	}
	g := f.Graphics
	c := Check{"opengl", OK, strings.Join(slices.DeleteFunc([]string{g.Version, g.Renderer, g.Vendor}, func(s string) bool { return s == "" }), "; "), ""}
	name := strings.ToLower(g.Renderer)
	if slices.ContainsFunc(software, func(s string) bool { return strings.Contains(name, s) }) {
		c.Found += " (drawn by the processor)"
	}
	return c
}

func graphicsRemedy(goos string) string {
	if goos == "linux" {
		return "install a driver: for pictures on the processor apt-get install libegl1 libgl1-mesa-dri (Debian, Ubuntu) or dnf install mesa-libEGL mesa-dri-drivers (Fedora); for a GPU its maker's, in a container also its device"
	}
	return "install the driver of the graphics card; OpenGL 4.1 is needed"
}

func display(f *Facts) Check {
	switch {
	case f.NoDisplay != nil && f.Display == "":
		return Check{"display", Warn, f.NoDisplay.Error(), "a window needs one; pictures do not: untold preview --headless --screenshot FILE.png"}
	case f.NoDisplay != nil:
		return Check{"display", Warn, fmt.Sprintf("%s does not answer: %v", f.Display, f.NoDisplay), "log in to a desktop, ssh -X, or xvfb-run; without a window: untold preview --headless"}
	}
	return Check{"display", OK, f.Display, ""}
}

func server(s *Server) Check {
	if s.Err != nil {
		return Check{"server", Fail, s.Err.Error(), "check the address, the network and proxies (HTTPS_PROXY); certificates come with the package ca-certificates"}
	}
	return Check{"server", OK, fmt.Sprintf("%s: a manifest of %s, %s, in %d ms", s.Address, human.Plural(s.Tiles, "tile"), human.Bytes(s.Bytes), s.Took.Milliseconds()), ""}
}

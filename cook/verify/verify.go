// Package verify judges containers, manifests with all their payloads, cooked
// textures, and whole folders, by the rules of packages format, utex and
// manifest.
package verify

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/atomicfile"
	"github.com/untoldkit/untold/internal/budget"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/internal/picture"
	"github.com/untoldkit/untold/internal/plainfile"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/manifest/payloadpath"
)

// Options change what is looked at.
type Options struct {
	// MaxPerCode is how many findings of one code are listed per file; 0 means
	// 100, negative all.
	MaxPerCode int
	// Jobs is how many files are judged at a time; at least 1.
	Jobs int
	// Memory is how many bytes containers may take together that are decoded at a time; one
	// that takes more is judged alone. 0: any number.
	Memory int64
	// Progress, when set, is called after each file, by one goroutine at a time.
	Progress func(done, total int)
	// Now, when set, is a clock in seconds from any origin, for File.Seconds. It is
	// called by several goroutines.
	Now func() float64
}

func (o *Options) now() float64 {
	if o.Now == nil {
		return 0
	}
	return o.Now()
}

// Report is the verdict on all files.
type Report struct {
	OK       bool    `json:"ok"` // no finding of severity error; for untold validate: nothing that fails it
	Files    []File  `json:"files"`
	Errors   int     `json:"errors"`
	Warnings int     `json:"warnings"`
	Figures  Figures `json:"figures"` // what budgets are about
	// Budgets says what became of budgets that the caller has judged; Paths leaves it
	// empty.
	Budgets []budget.Verdict `json:"budgets,omitempty"`
}

// File is the verdict on one file.
type File struct {
	Path     string            `json:"path"`
	OK       bool              `json:"ok"`
	Findings []finding.Finding `json:"findings"`
	Seconds  float64           `json:"-"` // that judging it took, by Options.Now

	errors, warnings int
}

// ErrNoFiles says that a folder holds nothing to judge.
var ErrNoFiles = errors.New("no .untold files or manifests")

// Paths judges every path: a container, a manifest (.json) together with the
// containers that it names, a cooked texture (.utex, .ktx2), or a folder with all of
// these below it. Each file
// is judged once. The error is about reading; findings are in the report.
func Paths(ctx context.Context, paths []string, opts Options) (*Report, error) {
	list := &fileList{seen: map[string]int{}, index: map[string]int{}}
	for _, p := range paths {
		if err := list.add(p); err != nil {
			return nil, err
		}
	}
	list.findUnnamed()
	files := make([]File, len(list.files))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(opts.Jobs, 1))
	var memory *picture.Budget
	if opts.Memory > 0 {
		memory = picture.NewBudget(opts.Memory)
	}
	var mu sync.Mutex // progress comes from one goroutine at a time, in order
	done := 0
	for i, job := range list.files {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			start := opts.now()
			free, err := job.room(ctx, memory)
			if err != nil {
				return err
			}
			defer free()
			files[i], err = job.judge(opts)
			files[i].Seconds = opts.now() - start
			if err != nil || opts.Progress == nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			done++
			opts.Progress(done, len(files))
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	r := &Report{OK: true, Files: files}
	for i := range files {
		r.Errors += files[i].errors
		r.Warnings += files[i].warnings
		r.OK = r.OK && files[i].OK
	}
	r.count(list.manifests)
	return r, nil
}

// job is one file to judge.
type job struct {
	path     string
	manifest bool
	found    bool // below a folder, not named by the caller
	noted    bool // nothing is judged: the findings are there already
	preset   []finding.Finding
}

type fileList struct {
	files  []job
	index  map[string]int // of files, by path
	seen   map[string]int // likewise, by real paths
	scenes scenes
	// manifests are those that can be read, plans among them.
	manifests []*manifest.Manifest
}

func (l *fileList) add(path string) error {
	st, err := journal.Stat(path)
	switch {
	case err != nil:
		return err
	case st.IsDir():
		return l.addFolder(path)
	case strings.EqualFold(filepath.Ext(path), ".json"):
		l.addManifest(path)
		return nil
	}
	l.addFile(job{path: path})
	return nil
}

func (l *fileList) addFile(j job) {
	key := filepath.Clean(j.path)
	if real, err := filepath.EvalSymlinks(key); err == nil {
		key = real
	}
	if at, there := l.seen[key]; there {
		// A manifest names most containers before they are found below its folder.
		l.files[at].found = l.files[at].found || j.found
		return
	}
	l.seen[key], l.index[j.path] = len(l.files), len(l.files)
	l.files = append(l.files, j)
}

// addManifest lists a manifest and the containers that it names. What is wrong
// with the paths is a finding of the manifest.
func (l *fileList) addManifest(path string) {
	before := len(l.files)
	l.addFile(job{path: path, manifest: true})
	m, err := manifest.Load(path)
	of := m
	if errors.Is(err, manifest.ErrPlan) {
		of, _ = manifest.LoadPlanned(path) // what is wrong with it is a finding
	}
	if of != nil && len(l.files) > before {
		l.manifests = append(l.manifests, of)
	}
	if err != nil {
		return
	}
	l.scenes.add(path, m)
	if m.DryRun {
		return
	}
	dir := filepath.Dir(path)
	for _, rel := range slices.Sorted(slices.Values(m.Payloads())) {
		p, err := payloadpath.Resolve(dir, rel)
		if err != nil {
			continue
		}
		if st, err := journal.Stat(p); err == nil && st.Mode().IsRegular() {
			l.addFile(job{path: p})
		}
	}
}

// addFolder lists all containers and manifests below a folder, in the order of
// their paths. JSON files that are no manifests are passed over.
func (l *fileList) addFolder(dir string) error {
	files, err := journal.Files(dir)
	if err != nil {
		return err
	}
	found := false // also files that were listed before
	for _, p := range files {
		if st, err := journal.Stat(p); err == nil && !st.Mode().IsRegular() {
			continue // a link to a folder; or a pipe or a device: reading would block or not end
		}
		name := filepath.Base(p)
		switch {
		case atomicfile.IsTemp(name):
		case isContainer(name) || IsTexture(name):
			found = true
			l.addFile(job{path: p, found: true})
		case strings.EqualFold(filepath.Ext(name), ".json") && IsManifest(p):
			found = true
			l.addManifest(p)
		}
	}
	if !found {
		return fmt.Errorf("%s: %w", dir, ErrNoFiles)
	}
	l.scenes.addPublished(dir)
	return l.findLeftovers(dir)
}

// IsManifest reports whether a JSON file has the two keys that every
// manifest has and hardly any other file.
func IsManifest(path string) bool {
	data, err := plainfile.Read(path, manifest.MaxBytes)
	return err == nil && strings.Contains(string(data), `"streaming_defaults"`) && strings.Contains(string(data), `"tiles"`)
}

// judge validates the file.
func (j job) judge(opts Options) (File, error) {
	f := File{Path: j.path, Findings: []finding.Finding{}}
	limit := opts.MaxPerCode
	switch {
	case j.noted:
	case IsTexture(j.path):
		if err := f.addTexture(j.found); err != nil {
			return f, err
		}
	case j.manifest:
		if limit == 0 {
			limit = 100
		}
		found, err := manifest.ValidateFile(j.path, manifest.ValidateOptions{CheckFiles: true, MaxPerCode: max(limit, 0)})
		if err != nil {
			return f, err
		}
		for _, x := range found {
			f.add(x)
		}
		if m, err := manifest.Load(j.path); err == nil {
			f.comparePayloads(m, filepath.Dir(j.path), limit)
		}
	default:
		r, err := format.ValidateFile(j.path, format.ValidateOptions{MaxPerCode: limit})
		if err != nil {
			return f, err
		}
		f.Findings = append(f.Findings, r.Findings...)
		f.errors, f.warnings = r.Errors, r.Warnings // with those that are not listed
	}
	for _, x := range j.preset {
		f.add(x)
	}
	f.OK = f.errors == 0
	return f, nil
}

// room waits until there is memory for what judging the file decodes.
func (j job) room(ctx context.Context, b *picture.Budget) (free func(), err error) {
	if b == nil || j.manifest || j.noted || IsTexture(j.path) {
		return func() {}, nil
	}
	r, err := format.Open(j.path)
	if err != nil {
		return func() {}, nil // there is little to decode in what cannot be opened, and judge says why
	}
	n := r.DecodeMemory()
	if err := r.Close(); err != nil {
		return nil, err
	}
	return b.Take(ctx, n)
}

func (f *File) add(x finding.Finding) {
	f.Findings = append(f.Findings, x)
	switch x.Severity {
	case finding.Error:
		f.errors++
	case finding.Warning:
		f.warnings++
	}
}

// Package publish sends cooked scenes to a place that readers stream from: a bucket
// behind a CDN, or a folder.
//
// # What lies there
//
//	city.json                                   the manifest: short-lived
//	payloads/<sha256>.untold                    containers without textures
//	payloads/<set>/<sha256>.untold              containers with textures
//	payloads/<set>/Textures/...                 these textures, under their own names
//	payloads/<sha256>.<ext>                     what else the manifest names, such as a colour table
//	payloads/viewer-<set>/...                   the page that shows the scenes
//	index.html, untold-viewer.js                what leads to it: short-lived
//	untold-scenes.json                          what there is to show: short-lived
//	.untold/publish/v000007.json                what version 7 consists of
//	.untold/publish/<sha256>.json               its manifests
//
// Everything below payloads is immutable: a name stands for the same bytes for ever,
// so that readers and CDNs need never ask again. A manifest names its payloads by
// paths of its own, which are rewritten, with the sizes and hashes of those that are
// repacked (Options.Compress). Whoever has read a manifest goes on reading
// the files that it names, whatever is published meanwhile.
//
// # Textures
//
// A container names its textures relative to its own folder. A texture with its hash
// in its name would therefore change the bytes of every container that uses it, and
// their hashes, headers and names with them; a folder for each version would make every
// version a whole copy. Here the containers' names of textures stay as they were cooked, and the
// folder tells textures apart: it is named by the hash of its set of textures, names
// and contents. A container stays in the folder where the last version had it, while
// that has the textures that it needs. What finds none such goes into one new folder,
// with the textures that it needs. So a texture that changed gives new addresses to the
// containers that use it, and to what these use beside it, whose bytes the place copies
// by itself where it can; nobody else's addresses change, and no address ever gets
// another content. Readers fetch what has a new address. Textures that lie in several folders are stored, fetched
// and kept in memory once for each: when their bytes reach twice of what they would be
// in one folder, all containers with textures move into one again.
//
// # Order
//
// Payloads first, then the version's record, which is only written if nobody else
// has written that version, then the manifests, then what leads to the page. A run that is stopped leaves a place
// whose manifests name complete files; the next one sends what is missing. What the
// place has is asked of the place: names and sizes, and of a folder the bytes. Records of versions are hints for
// where to put things, and say what may be removed; one that is damaged costs new
// addresses, never correctness. An export's record goes first and says that it is one's:
// what no record of an export names is of somebody else.
package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/untoldkit/untold/cook/verify"
	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/human"
)

// Place is where a scene is published.
type Place = blob.Place

// The types of what a Place takes and returns, and the kinds of its errors.
type (
	Info       = blob.Info
	PutOptions = blob.PutOptions
	PlaceError = blob.Error
)

// OpenFolder returns a folder as a Place; it is made when something is sent.
func OpenFolder(dir string) (Place, error) { return blob.OpenFolder(dir) }

// How long copies of files live.
const (
	// PayloadCache is the Cache-Control header of payloads: a year, the longest that
	// caches go by.
	PayloadCache = "public, max-age=31536000, immutable, no-transform"
	// ManifestCache is that of manifests: a new version is seen within a minute.
	ManifestCache = "public, max-age=60, must-revalidate, no-transform"
)

// defaultJobs is how many files are read or sent at a time when nobody says.
const defaultJobs = 8

// Options change what is done. The zero value sends everything that is missing and
// removes nothing.
type Options struct {
	// Jobs is how many files are read or sent at a time; 0 means 8.
	Jobs int
	// DryRun sends and removes nothing; the report says what would be sent.
	DryRun bool
	// Keep is how many versions stay, the new one included; 0 means all. What no
	// version names that stays is removed.
	Keep int
	// Grace is how long files stay at least after they were sent, and versions after
	// the next one was published: as long as a reader may go on with a manifest that
	// it has read, and longer than a publish takes. Only Keep uses it.
	Grace time.Duration
	// Now is the time by which the grace is judged; needed with Keep.
	Now time.Time
	// Compress, when set, is how the geometry of containers is compressed; nil leaves it as
	// it was cooked. Containers without any compressed geometry stay as they are, since
	// their meshes can be fetched one by one.
	Compress *format.CompressMode
	// Memory is the main memory, in bytes, that the program may take while it judges containers and
	// compresses their geometry anew: as many of them at a time as fit. A container that
	// would take more by itself stays as it was cooked, which the report tells. 0 means
	// DefaultMemory. What a container becomes depends neither on Jobs nor on the machine.
	Memory int64
	// Viewer, when set, is the page that shows the scenes of the place in a browser. A
	// place that has one keeps it, with its list of scenes brought up to date.
	Viewer *Viewer
	// Progress, when set, is called after each file, by one goroutine at a time.
	Progress func(stage string, done, total int)
}

// Report says what was published.
type Report struct {
	Place    string  `json:"place"`
	DryRun   bool    `json:"dry_run"`
	Version  int     `json:"version"`  // of the place, from 1; of a dry run the one that would be
	Previous int     `json:"previous"` // 0: nothing was published there
	Scenes   []Scene `json:"scenes"`   // of the folder
	Files    int     `json:"files"`    // payloads of these
	Bytes    int64   `json:"bytes"`
	// Sent are payloads that the place did not have, Copied those that it had under
	// another key and copied by itself.
	Sent         []Transfer `json:"sent"`
	SentBytes    int64      `json:"sent_bytes"`
	Copied       []Transfer `json:"copied"`
	CopiedBytes  int64      `json:"copied_bytes"`
	Removed      int        `json:"removed"` // payloads that no version names any more
	RemovedBytes int64      `json:"removed_bytes"`
	// TooLarge is how many containers stay as they were cooked, although Compress is set, since
	// they would take more than Memory.
	TooLarge      int   `json:"too_large,omitempty"`
	TooLargeBytes int64 `json:"too_large_bytes,omitempty"`
	// Viewer says that the place has a page, which shows its scenes.
	Viewer bool `json:"viewer,omitempty"`
	// Notes are what a user should know: a record that was damaged and passed over, payloads of
	// the place that were, containers that are too large.
	Notes []string `json:"notes,omitempty"`
}

// Scene is a manifest.
type Scene struct {
	Manifest string `json:"manifest"` // key
	Changed  bool   `json:"changed"`  // the place had another one or none
}

// Transfer is a payload that is sent.
type Transfer struct {
	Key    string `json:"key"`
	Bytes  int64  `json:"bytes"`
	Source string `json:"source"` // path in the folder, with slashes; of a copy the key
}

var (
	// ErrScene is matched by errors about a folder that cannot be published as it
	// is: a manifest with errors, payloads that are missing or damaged, a plan.
	ErrScene = errors.New("the folder cannot be published")
	// ErrRace: somebody else published there meanwhile.
	ErrRace = errors.New("another version was published meanwhile")
	// ErrVersion: there is no version of that number, or not all of it.
	ErrVersion = errors.New("the version is not there")
)

// FindingsError is about a scene with errors. It matches ErrScene.
type FindingsError struct {
	Report *verify.Report
}

// Error tells the first error and how many there are.
func (e *FindingsError) Error() string {
	for i := range e.Report.Files {
		f := &e.Report.Files[i]
		if f.OK || len(f.Findings) == 0 {
			continue
		}
		for _, x := range f.Findings {
			if x.Severity == finding.Error {
				return fmt.Sprintf("%v: %d errors, the first in %s: %s: %s; nothing was sent; untold validate lists them, cook again", ErrScene, e.Report.Errors, f.Path, x.Code, x.Message)
			}
		}
	}
	return ErrScene.Error()
}

// Unwrap returns ErrScene.
func (e *FindingsError) Unwrap() error { return ErrScene }

// Run publishes the scenes of a cooked folder, or the one whose manifest is given.
// Scenes that were published there from elsewhere stay.
func Run(ctx context.Context, dir string, to Place, o Options) (*Report, error) {
	if o.Keep < 0 || o.Keep > 0 && o.Now.IsZero() {
		return nil, errors.New("the option Keep needs a number of versions, at least 0, and the time")
	}
	o.Jobs = cmp.Or(max(o.Jobs, 0), defaultJobs)
	r := &run{to: to, o: o, memory: newWorkshop(&o), report: &Report{Place: to.String(), DryRun: o.DryRun, Scenes: []Scene{}, Sent: []Transfer{}, Copied: []Transfer{}}}
	if err := r.publish(ctx, dir); err != nil {
		return nil, err
	}
	return r.report, nil
}

// run is one publication.
type run struct {
	to     Place
	o      Options
	report *Report
	there  map[string]int64 // sizes of the payloads that the place had when it was asked last
	alone  bool             // nothing else is in the place, see Export
	memory *workshop
}

func (r *run) publish(ctx context.Context, dir string) error {
	if err := apart(dir, r.to); err != nil {
		return err
	}
	scenes, err := r.read(ctx, dir)
	if err != nil {
		return err
	}
	past, err := r.history(ctx)
	if err != nil {
		return err
	}
	last := r.latest(ctx, past)
	next := arrange(scenes, last, r.o.Viewer != nil || !r.alone && last != nil && last.Viewer != nil)
	for _, s := range scenes {
		if err := s.check(); err != nil {
			return err
		}
	}
	r.noteLarge(scenes)
	page, err := r.page(next)
	if err != nil {
		return err
	}
	if next.Export = r.alone; !r.alone {
		next.Carry(last)
	}
	r.report.Viewer = next.Viewer != nil
	if err := r.mayShow(ctx, next, last, past); err != nil {
		return err
	}
	r.report.Previous, r.report.Version = past.last(), past.last()
	next.Number = past.last() + 1
	differs := !next.Same(last)
	if differs {
		r.report.Version = next.Number
	}
	files := append(filesOf(scenes), page...)
	for _, f := range files {
		r.report.Files++
		r.report.Bytes += f.size
	}
	missing, damaged, err := r.missingOrDamaged(ctx, files)
	if err != nil {
		return err
	}
	if n := len(damaged); n > 0 {
		r.note("%s of the place had other bytes than their names stand for, the first is %s: they are sent again", human.Plural(n, "payload"), damaged[0].key)
	}
	if err := r.lookForCopies(ctx, missing, last); err != nil {
		return err
	}
	for _, f := range missing {
		if f.twin != "" {
			r.report.Copied = append(r.report.Copied, Transfer{f.key, f.size, f.twin})
			r.report.CopiedBytes += f.size
			continue
		}
		r.report.Sent = append(r.report.Sent, Transfer{f.key, f.size, f.source})
		r.report.SentBytes += f.size
	}
	if r.o.DryRun {
		if err := r.unveil(ctx, scenes); err != nil {
			return err
		}
		return r.front(ctx, next, scenes)
	}
	// The record of an export goes first, so that what a stopped one leaves is known to be
	// of it; nobody goes back to a version of an export.
	if differs && r.alone {
		if err := r.record(ctx, next, texts(scenes)); err != nil {
			return err
		}
	}
	if err := r.send(ctx, missing); err != nil {
		return err
	}
	if differs && !r.alone {
		if err := r.record(ctx, next, texts(scenes)); err != nil {
			return err
		}
		// From here on nobody removes what this version names. What somebody has
		// removed since the place was asked is sent again.
		if missing, err = r.missing(ctx, files); err == nil {
			err = r.send(ctx, missing)
		}
		if err != nil {
			return err
		}
	}
	if err := r.unveil(ctx, scenes); err != nil {
		return err
	}
	if err := r.front(ctx, next, scenes); err != nil {
		return err
	}
	return r.prune(ctx)
}

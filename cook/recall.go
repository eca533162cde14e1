package cook

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"

	"github.com/untoldkit/untold/internal/clock"
	"github.com/untoldkit/untold/internal/filestamp"
	"github.com/untoldkit/untold/internal/holding"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// logName is the file of a stage that lists the results whose files are complete. A cook
// that was killed leaves it, and the next one takes them.
const logName = ".results"

// recall finds results of earlier cooks, and remembers those of this one. It is safe for
// use by several goroutines.
type recall struct {
	out      *output
	manifest string // its file name
	payloads string // the folder of containers
	fresh    bool   // nothing is taken
	verify   bool   // no stamp of the output is trusted

	shared *shared              // nil without a store
	last   *state               // of the last cook, empty without one
	places map[string]delivered // by name: what it delivered
	left   []leftover

	mu      sync.Mutex
	images  map[string]imageRecord    // by key: files made of images, by this cook
	origin  map[string]string         // by name: where a payload or node was taken from
	found   map[string]string         // by name: where files of nodes lie
	cells   map[string]rememberedCell // by name: of this cook
	taken   map[string]taken          // by name: files of results that are taken again
	results map[string]remembered     // by name: the results of this cook
	reused  int                       // of these, how many an earlier cook or another has made
	log     journal.File
	logged  bool            // something is in the log
	kept    map[string]bool // hashes of the kept files that results of this cook need
}

// taken is a file that need not be made again.
type taken struct {
	fileRecord
	from string // where it lies in the output folder
}

// leftover is the stage of a cook that was killed.
type leftover struct {
	stage   string // its path in the output folder
	results map[string]record
	cells   map[string]cellRecord
	release func()
}

// newRecall looks at what earlier cooks have left in the output folder, which the caller
// has claimed. With fresh nothing of it counts.
func newRecall(ctx context.Context, out *output, manifest string, o *Options) *recall {
	r := &recall{
		out: out, manifest: manifest, payloads: o.PayloadDir, fresh: o.Full, verify: o.Verify || o.Full, shared: newShared(ctx, o),
		last: &state{}, places: map[string]delivered{}, images: map[string]imageRecord{}, found: map[string]string{}, origin: map[string]string{}, cells: map[string]rememberedCell{},
		taken: map[string]taken{}, results: map[string]remembered{}, kept: map[string]bool{},
	}
	if s := loadState(out.files, manifest); s != nil {
		r.last = s
	}
	for _, d := range r.last.Outputs {
		r.places[d.Name] = d
	}
	r.adopt()
	var err error
	if r.log, err = out.files.Create(out.at(logName)); err != nil {
		r.log = nil // then a kill costs more
	}
	return r
}

// adopt takes over the stages of killed cooks.
func (r *recall) adopt() {
	f := r.out.files
	entries, err := f.ReadDir(journal.Folder)
	if err != nil {
		return
	}
	idle := journal.Idle(clock.System{}.Now())
	for _, e := range entries {
		if !e.IsDir() || !journal.IsStage(e.Name()) || e.Name() == r.out.name {
			continue
		}
		at := path.Join(journal.Folder, e.Name())
		release, state, err := holding.Folder(filepath.Join(r.out.dir, journal.Folder, e.Name()))
		if err != nil || state == holding.Busy {
			continue
		}
		if state == holding.Unsure && !idle(f, at) {
			release()
			continue
		}
		l := leftover{stage: at, results: map[string]record{}, cells: map[string]cellRecord{}, release: release}
		l.read(f)
		r.left = append(r.left, l)
	}
}

// read reads the list of results, as far as it was written.
func (l *leftover) read(f journal.FS) {
	text, err := journal.Read(f, path.Join(l.stage, logName))
	if err != nil {
		return
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, len(text)+1)
	for lines.Scan() {
		var r loggedResult
		switch err := json.Unmarshal(lines.Bytes(), &r); {
		case err != nil:
		case r.Record != nil:
			l.results[r.Key] = *r.Record
		case r.Cell != nil:
			l.cells[r.Key] = *r.Cell
		}
	}
}

type loggedResult struct {
	Key    string      `json:"key"`
	Record *record     `json:"record,omitempty"`
	Cell   *cellRecord `json:"cell,omitempty"`
}

// find returns the result of a key that fits a payload, all files of which are there.
func (r *recall) find(p *payload, k *key) (*record, bool) {
	name := k.sum.String()
	if m := r.last.Payloads[p.name]; m.Key == name && m.Record.fits(p) && r.take(&m.Record, "") {
		return r.from(p.name, fromEarlier, &m.Record), true
	}
	for _, l := range r.left {
		if rec, ok := l.results[name]; ok && rec.fits(p) && r.take(&rec, l.stage) {
			return r.from(p.name, fromStopped, &rec), true
		}
	}
	if r.shared.works() {
		rec := &record{}
		there := r.shared.record(k.sum, rec)
		if there && rec.fits(p) && r.takeFrom(r.fetch(k.sum, rec.files()), rec.files()) {
			return r.from(p.name, fromStore, rec), true
		}
		r.miss(k.sum, there)
	}
	return nil, false
}

// Where results come from.
const (
	fromEarlier = "earlier cook"
	fromStopped = "stopped cook"
	fromStore   = "store"
)

// from notes where a result comes from.
func (r *recall) from(name, where string, rec *record) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.origin[name] = where
	return rec
}

// restore fills in a payload from an earlier result, and reports whether there is one.
func (r *recall) restore(p *payload, k *key) bool {
	if r.fresh {
		return false
	}
	rec, ok := r.find(p, k)
	if !ok {
		return false
	}
	rec.restore(p)
	r.remember(p.name, k, rec, true)
	return true
}

// take takes the files of a result, if all are found, in a stage too if one is named.
func (r *recall) take(rec *record, stage string) bool {
	return r.takeFrom(r.locateAll(rec.files(), stage), rec.files())
}

// takeFrom takes files from where they lie, if they were found.
func (r *recall) takeFrom(found map[string]string, files []fileRecord) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range files {
		if at := found[f.Name]; found != nil && at != r.out.at(f.Name) { // else it is where it should be
			r.taken[f.Name] = taken{f, at}
		}
	}
	return found != nil
}

// locateAll returns where files lie, by their names; nil if one is not to be found.
func (r *recall) locateAll(files []fileRecord, stage string) map[string]string {
	found := map[string]string{}
	for _, f := range files {
		if journal.CheckPath(f.Name) != nil || len(f.SHA256) != 2*sha256.Size {
			return nil
		}
		if found[f.Name] = r.locate(f, stage); found[f.Name] == "" {
			return nil
		}
	}
	return found
}

// locate returns where the bytes of a file lie; "" if nowhere.
func (r *recall) locate(f fileRecord, stage string) string {
	if r.inPlace(f) {
		return f.Name
	}
	if at := path.Join(keptFolder(r.manifest), f.SHA256); r.out.has(at, f) {
		return at
	}
	if at := path.Join(stage, f.Name); stage != "" {
		if reached, err := journal.Reaches(r.out.files, at); reached && err == nil && r.out.has(at, f) {
			return at
		}
	}
	return ""
}

// inPlace reports whether a file of the scene has certain bytes already.
func (r *recall) inPlace(f fileRecord) bool {
	d, ok := r.places[f.Name]
	if !ok || d.SHA256 != f.SHA256 || d.Size != f.Size {
		return false
	}
	if reached, err := journal.Reaches(r.out.files, f.Name); !reached || err != nil {
		return false
	}
	st, err := r.out.files.Lstat(f.Name)
	if err != nil || !st.Mode().IsRegular() {
		return false
	}
	return !r.verify && filestamp.Of(st) == d.Stamp || r.out.has(f.Name, f)
}

// remembers adds to the old scene what the last cook has delivered, the new one does not
// have, and nobody has changed since: without it, files would stay for ever whose manifest
// or containers are damaged or gone. old may be nil.
func (r *recall) remembers(old *oldScene, n *neighbours, fresh []string) *oldScene {
	known := map[string]bool{}
	for _, name := range fresh {
		known[name] = true
	}
	if old != nil {
		for _, name := range slices.Concat(old.payloads, old.textures) {
			known[name] = true
		}
	}
	for _, d := range r.last.Outputs {
		if known[d.Name] || !isOurs(d.Name, false) || journal.CheckPath(d.Name) != nil || !r.inPlace(fileRecord{d.Name, d.Size, d.SHA256}) {
			continue
		}
		if old == nil {
			old = &oldScene{o: r.out, m: &manifest.Manifest{}, neighbours: n}
		}
		if path.Ext(d.Name) == partition.PayloadExt {
			old.payloads = append(old.payloads, d.Name)
		} else {
			old.textures = append(old.textures, d.Name)
		}
	}
	if old != nil {
		slices.Sort(old.payloads)
		slices.Sort(old.textures)
	}
	return old
}

// remember notes a result of this cook, by the name of its payload. Its files are complete.
func (r *recall) remember(name string, k *key, rec *record, reused bool) {
	defer r.share(k.sum, rec.files(), nil, rec)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.results[name] = k.remember(rec)
	if reused {
		r.reused++
	}
	r.write(loggedResult{Key: k.sum.String(), Record: rec})
	r.logged = r.logged || !reused && r.log != nil
}

// write adds a result to the log.
func (r *recall) write(l loggedResult) {
	if r.log == nil {
		return
	}
	line, err := json.Marshal(l)
	if err == nil {
		_, err = r.log.Write(append(line, '\n'))
	}
	if err != nil { // a full disk, as the cook itself will find out
		r.closeLog()
	}
}

// goesOn reports whether this cook has made something that the next one can take.
func (r *recall) goesOn() bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.logged
}

func (r *recall) closeLog() {
	if r.log != nil {
		r.log.Close()
		r.log = nil
	}
}

// bring moves the taken files to the stage that are not in their places already.
func (r *recall) bring() error {
	for _, t := range r.taken {
		var err error
		switch {
		case t.from == t.Name:
		case path.Dir(t.from) == keptFolder(r.manifest): // maybe under several names
			err = r.out.copy(t.from, t.fileRecord)
		default:
			err = r.out.adopt(t.from, t.entry())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// setAside keeps files for later cooks that are no part of the scene, as of levels that
// are taken back, and removes them from the stage.
func (r *recall) setAside(f fileRecord) error {
	staged := r.out.at(f.Name)
	to := path.Join(keptFolder(r.manifest), f.SHA256)
	r.kept[f.SHA256] = true
	if t, ok := r.taken[f.Name]; ok {
		delete(r.taken, f.Name)
		if t.from == to || t.from == t.Name { // the latter goes with the old scene
			return nil
		}
		staged = t.from
	}
	if err := r.makeKept(); err != nil {
		return err
	}
	r.out.forget(f.Name)
	return r.out.files.Rename(staged, to)
}

func (r *recall) makeKept() error {
	err := r.out.files.Mkdir(keptFolder(r.manifest))
	if errors.Is(err, fs.ErrExist) {
		return journal.CheckFolder(r.out.files, keptFolder(r.manifest))
	}
	return err
}

// settle takes files out of the stage that lie in their places with the same bytes, but
// for the manifest, and returns the files of the scene that stay as they are.
func (r *recall) settle(manifest string) (stay []fileRecord, err error) {
	staged, err := r.out.staged(manifest)
	if err != nil {
		return nil, err
	}
	for _, t := range r.taken {
		if t.from == t.Name {
			stay = append(stay, t.fileRecord)
		}
	}
	for _, e := range staged[:len(staged)-1] {
		if e.SHA256 == "" {
			if e, err = r.out.hash(e); err != nil {
				return nil, err
			}
		}
		f := fileRecord{e.Path, e.Size, e.SHA256}
		if !r.inPlace(f) {
			continue
		}
		if err := r.out.unstage([]string{e.Path}); err != nil {
			return nil, err
		}
		stay = append(stay, f)
	}
	return stay, nil
}

// save writes the state of the folder, and lets go of all that is of no use any more.
// What goes wrong costs the next cook time, no more.
func (r *recall) save(s *state, files []fileRecord) {
	defer r.drop()
	s.Version, s.Payloads, s.Cells, s.Images = stateVersion, r.results, r.cells, r.images
	for _, f := range files {
		st, err := r.out.files.Lstat(f.Name)
		if err != nil {
			return
		}
		s.Outputs = append(s.Outputs, delivered{f.Name, f.SHA256, filestamp.Of(st)})
	}
	if err := s.save(r.out.files, r.manifest); err != nil {
		_ = r.out.files.Remove(stateFile(r.manifest))
		return
	}
	r.clearKept()
}

// clearKept removes the kept files that no result of this cook needs.
func (r *recall) clearKept() {
	f, folder := r.out.files, keptFolder(r.manifest)
	if journal.CheckFolder(f, folder) != nil {
		return // nothing is removed through a link
	}
	entries, err := f.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		switch at := path.Join(folder, e.Name()); {
		case r.kept[e.Name()]:
		case e.IsDir():
			_ = journal.RemoveAll(f, at)
		default:
			_ = f.Remove(at)
		}
	}
	if len(r.kept) == 0 {
		_ = f.Remove(folder)
	}
}

// drop removes the stages of killed cooks, when all that is in them has been used.
func (r *recall) drop() {
	for _, l := range r.left {
		_ = journal.RemoveAll(r.out.files, l.stage)
	}
	r.close()
}

// close lets go of them.
func (r *recall) close() {
	r.closeLog()
	for _, l := range r.left {
		l.release()
	}
	r.left = nil
}

// readSource describes a file that a scene came from.
func readSource(name string, read int64) (source, error) {
	f, err := os.Open(name)
	if err != nil {
		return source{}, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return source{}, err
	}
	s := source{Path: name, Stamp: filestamp.Of(st)}
	s.Racy = s.Stamp.Racy(read)
	s.SHA256, _, err = hashAll(f)
	return s, err
}

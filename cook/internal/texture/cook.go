package texture

import (
	"bufio"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/untoldkit/untold/internal/picture"
	"github.com/untoldkit/untold/internal/workpool"
)

// Variant is one version of all images.
type Variant struct {
	MaxSize int    // of the longer side in pixels; 0: no limit
	Suffix  string // of the file names
	// Only are the roles that this version has to serve, parallel to staged and
	// within the roles of Cook; nil: all of them.
	Only []Roles
}

// Options control Cook.
type Options struct {
	Mode     Mode // all but ModeCopy
	ASTC     ASTC // of ModeASTC
	Variants []Variant
	// Jobs is how many goroutines work at a time; at least 1.
	Jobs int
	// Limits bound the memory of the images at work, by an estimate of 14 bytes a
	// pixel and what decoding takes. Larger images stay as they are: Kept says so.
	Limits Limits
	// Results, when set, may have what is to be made, and gets what is.
	Results Results
	// Progress, when set, is called before the first and after each image, by one
	// goroutine at a time.
	Progress func(done, total int)
}

// Key is the hash of all that decides the files of an image.
type Key [sha256.Size]byte

// Results are files that were made of images. Its methods are called by several
// goroutines at a time.
type Results interface {
	// Take brings the files that were made for a key into dir, fills in what is known of
	// them but their names, and reports whether it could.
	Take(key Key, dir string, files []*Cooked) bool
	// Keep is told of files that have been made for a key and lie in dir.
	Keep(key Key, dir string, files []*Cooked)
}

// DefaultMemory lets two textures of 3600 x 3600 pixels be cooked at a time.
const DefaultMemory = 512 << 20

// bytesPerPixel is what cooking needs beside the decoder: a copy for the role,
// the first filtered level, blocks.
const bytesPerPixel = 14

// need estimates what work on a staged image takes that needs perPixel bytes a
// pixel beside the decoder.
func (s *Staged) need(path string, perPixel int64) (int64, error) {
	c, err := s.inspect(path)
	if err != nil {
		return 0, err
	}
	if c.Bytes > MaxDecodeBytes {
		return 0, tooLarge(s.Width, s.Height, c.Bytes, MaxDecodeBytes)
	}
	return s.Size + c.Bytes + perPixel*int64(s.Width)*int64(s.Height), nil
}

// inspect reads as much of a staged image as tells what decoding takes: of
// files with much in front of the picture all of it.
func (s *Staged) inspect(path string) (picture.Cost, error) {
	f, err := os.Open(path)
	if err != nil {
		return picture.Cost{}, err
	}
	defer f.Close()
	const first = 64 << 10
	data, err := io.ReadAll(io.LimitReader(f, first))
	if err != nil {
		return picture.Cost{}, err
	}
	if _, ok := picture.Inspect(data); !ok && len(data) == first {
		rest, err := io.ReadAll(f)
		if err != nil {
			return picture.Cost{}, err
		}
		data = append(data, rest...)
	}
	return picture.Estimate(data, s.Width, s.Height), nil
}

// Cook makes the files for the roles of staged images, which lie in from, and
// writes them to dir. It returns for each variant a copy of staged with Cooked
// filled in; roles is parallel to staged. Where an image is fit as it is, and
// where it turns out to be damaged (Kept says how), Cooked stays empty and the
// staged file has to serve: see Publish. The outcome does not depend on Jobs.
func Cook(ctx context.Context, from, dir string, staged []Staged, roles []Roles, o Options) ([][]Staged, error) {
	k := &kitchen{from: from, dir: dir, o: o, workers: newWorkers(o.Jobs), staged: staged}
	k.plan(roles)
	if len(k.works) > 0 {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if err := k.run(ctx); err != nil {
		return nil, err
	}
	out := make([][]Staged, len(o.Variants))
	for v := range out {
		out[v] = make([]Staged, len(staged))
		for i, s := range staged {
			if w := k.byFile[s.File]; w != nil && s.File != "" {
				if s.Kept = w.kept; w.kept == nil {
					s.Cooked = w.cooked[v]
				}
			}
			out[v][i] = s
		}
	}
	return out, nil
}

// kitchen is the state of one Cook.
type kitchen struct {
	from, dir string
	o         Options
	workers   *workers
	staged    []Staged
	works     []*work
	byFile    map[string]*work
}

// work is one image content with all that is made of it.
type work struct {
	staged *Staged
	roles  Roles
	only   []Roles         // by variant
	cooked [][uses]*Cooked // by variant
	kept   error
}

// plan finds the distinct images and names their files, in order.
func (k *kitchen) plan(roles []Roles) {
	k.byFile = map[string]*work{}
	names := namer{}
	for i := range k.staged {
		s := &k.staged[i]
		if s.File == "" || len(roles[i].List()) == 0 {
			continue
		}
		w := k.byFile[s.File]
		if w == nil {
			w = &work{staged: s, only: make([]Roles, len(k.o.Variants))}
			k.byFile[s.File] = w
			k.works = append(k.works, w)
			names.taken = mark(names.taken, s.File)
		}
		w.roles.join(&roles[i])
		for v, variant := range k.o.Variants {
			if variant.Only == nil {
				w.only[v].join(&roles[i])
			} else {
				w.only[v].join(&variant.Only[i])
			}
		}
	}
	for _, w := range k.works {
		k.name(w, &names)
	}
}

// name gives every role and variant of an image its file. Variants of the same
// size share one.
func (k *kitchen) name(w *work, names *namer) {
	s := w.staged
	w.cooked = make([][uses]*Cooked, len(k.o.Variants))
	for v, variant := range k.o.Variants {
		width, height := k.o.Mode.size(variant.fit(s.Width, s.Height))
		for i, r := range w.roles.List() {
			if w.only[v][r.Use].Use == Unused {
				continue
			}
			if k.o.Mode == ModeResize && width == s.Width && height == s.Height {
				continue // the staged file serves
			}
			if twin := w.twin(v, r.Use, width, height); twin != nil {
				w.cooked[v][r.Use] = twin
				continue
			}
			suffix := variant.Suffix
			if i > 0 {
				suffix = "_" + r.Use.String() + suffix
			}
			w.cooked[v][r.Use] = &Cooked{File: k.fileFor(s.File, suffix, r.Use, names), Width: width, Height: height}
		}
	}
}

// fileFor names a file that is made of another one.
func (k *kitchen) fileFor(from, suffix string, u Use, names *namer) string {
	ext := filepath.Ext(from)
	end := ext
	switch blocks := k.o.Mode.blockExt(); {
	case blocks != "":
		end = blocks
	case u != Color:
		end = ".png" // JPEG halves the resolution of two of three channels
	}
	if end == ext && suffix == "" {
		return from // it takes the original's place
	}
	return names.pick(strings.TrimSuffix(from, ext)+suffix, end, from)
}

// fit returns the size that an image gets.
func (v Variant) fit(w, h int) (int, int) {
	if v.MaxSize <= 0 || max(w, h) <= v.MaxSize {
		return w, h
	}
	return fitInto(w, h, v.MaxSize)
}

// twin returns an earlier variant's file of the same role and size.
func (w *work) twin(v int, u Use, width, height int) *Cooked {
	for _, earlier := range w.cooked[:v] {
		if c := earlier[u]; c != nil && c.Width == width && c.Height == height {
			return c
		}
	}
	return nil
}

// needed reports whether any file is to be made.
func (w *work) needed() bool {
	for _, v := range w.cooked {
		if v != [uses]*Cooked{} {
			return true
		}
	}
	return false
}

// run cooks all images, several at a time, within the memory.
func (k *kitchen) run(ctx context.Context) error {
	memory := k.o.Limits.budget()
	if k.o.Progress != nil && len(k.works) > 0 {
		k.o.Progress(0, len(k.works))
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(max(k.o.Jobs, 1))
	errs := make([]error, len(k.works))
	var mu sync.Mutex
	done := 0
	for i, w := range k.works {
		g.Go(func() error {
			var need int64
			if w.needed() {
				var err error
				need, err = w.staged.need(filepath.Join(k.from, w.staged.File), bytesPerPixel)
				if err == nil {
					err = k.o.Limits.check(w.staged.Width, w.staged.Height, need)
				}
				if errors.Is(err, ErrTooLarge) {
					w.kept, need = err, 0
				} else if err != nil {
					errs[i] = err
					return err
				}
			}
			free, err := memory.Take(ctx, need)
			if err != nil {
				return err
			}
			defer free()
			k.workers.join()
			defer k.workers.leave()
			if errs[i] = k.cook(ctx, w); errs[i] != nil {
				return errs[i]
			}
			if k.o.Progress != nil {
				mu.Lock()
				defer mu.Unlock()
				done++
				k.o.Progress(done, len(k.works))
			}
			return nil
		})
	}
	return workpool.FirstFailure(errs, g.Wait())
}

// cook makes all files of one image. An image that cannot be decoded stays as
// it is.
func (k *kitchen) cook(ctx context.Context, w *work) error {
	if err := ctx.Err(); err != nil || !w.needed() || w.kept != nil {
		return err
	}
	var key Key
	var files []*Cooked
	if k.o.Results != nil {
		var err error
		if key, files, err = k.key(w); err != nil {
			return err
		}
		if k.o.Results.Take(key, k.dir, files) {
			return nil
		}
	}
	img, err := Load(filepath.Join(k.from, w.staged.File))
	if errors.Is(err, ErrDamaged) || errors.Is(err, ErrFormat) || errors.Is(err, ErrTooLarge) {
		w.kept = err
		return nil
	}
	if err != nil {
		return err
	}
	for _, r := range w.roles.List() {
		made := map[*Cooked]bool{}
		for v := range w.cooked {
			to := w.cooked[v][r.Use]
			if to == nil || made[to] {
				continue
			}
			made[to] = true
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := k.write(ctx, to, img, r); err != nil {
				return fmt.Errorf("texture %s: %w", to.File, err)
			}
		}
	}
	if k.o.Results != nil {
		k.o.Results.Keep(key, k.dir, files)
	}
	return nil
}

// KeyStage is a number that is raised whenever other bytes are made of the same image.
const KeyStage = 5

// astcStage is the same for ASTC alone.
const astcStage = 1

// Stages are these numbers, as far as they are of a mode, for keys of what is made with
// pictures of it.
func (m Mode) Stages() [2]int {
	switch m {
	case ModeASTC:
		return [2]int{KeyStage, astcStage}
	case ModeKTX2:
		return [2]int{KeyStage, uastcStage}
	}
	return [2]int{KeyStage, 0}
}

// key hashes all that decides the files of an image, which it lists.
func (k *kitchen) key(w *work) (key Key, files []*Cooked, err error) {
	f, err := os.Open(filepath.Join(k.from, w.staged.File))
	if err != nil {
		return key, nil, err
	}
	defer f.Close()
	h := sha256.New()
	fmt.Fprintf(h, "texture %d %d\n", KeyStage, k.o.Mode)
	if k.o.Mode == ModeASTC {
		fmt.Fprintf(h, "astc %d %+v\n", astcStage, k.o.ASTC)
	}
	if k.o.Mode == ModeBC && k.o.ASTC.High {
		fmt.Fprintln(h, "bc high")
	}
	if k.o.Mode == ModeKTX2 {
		fmt.Fprintf(h, "uastc %d\n", uastcStage)
	}
	for _, r := range w.roles.List() {
		for v := range w.cooked {
			if to := w.cooked[v][r.Use]; to != nil && !slices.Contains(files, to) {
				files = append(files, to)
				fmt.Fprintf(h, "%+v %d %d %s\n", r, to.Width, to.Height, filepath.Ext(to.File))
			}
		}
	}
	_, err = io.Copy(h, f)
	h.Sum(key[:0])
	return key, files, err
}

// write makes one file.
func (k *kitchen) write(ctx context.Context, to *Cooked, img *image.NRGBA, r Role) error {
	base := k.o.Mode.scaled(k.workers, img, to.Width, to.Height, r)
	n, err := writeFile(filepath.Join(k.dir, to.File), func(w io.Writer) error {
		return to.encode(ctx, w, k.workers, base, r, k.o.Mode.coding(r, k.o.ASTC), png.DefaultCompression)
	})
	to.Size = n
	return err
}

// writeFile creates a file and returns its size.
func writeFile(path string, put func(io.Writer) error) (int64, error) {
	f, err := os.Create(path)
	if err != nil {
		return 0, err
	}
	buf := bufio.NewWriterSize(f, 256<<10)
	err = put(buf)
	if err == nil {
		err = buf.Flush()
	}
	st, statErr := f.Stat()
	if err = errors.Join(err, statErr, f.Close()); err != nil {
		return 0, err
	}
	return st.Size(), nil
}

// Publish moves the staged files that have to serve themselves for one of the
// roles, which are parallel to staged, from from to dir. Those that are there
// already are left alone.
func Publish(from, dir string, staged []Staged, roles []Roles) error {
	for i := range staged {
		s := &staged[i]
		to := filepath.Join(dir, s.File)
		if s.File == "" || !s.serves(&roles[i]) {
			continue
		}
		if _, err := os.Lstat(to); err == nil {
			continue
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(from, s.File), to); err != nil {
			return err
		}
	}
	return nil
}

// serves reports whether the staged file itself stands for one of the roles.
func (s *Staged) serves(roles *Roles) bool {
	for _, r := range roles.List() {
		if s.Cooked[r.Use] == nil {
			return true
		}
	}
	return false
}

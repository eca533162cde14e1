package cook

import (
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/internal/journal"
)

// imageRecord is what was made of an image.
type imageRecord struct {
	Files []madeFile `json:"files"`
}

// madeFile is a file that was made of an image, with what is known of it.
type madeFile struct {
	fileRecord
	Width  int                   `json:"width"`
	Height int                   `json:"height"`
	Levels int                   `json:"levels"`
	Format records.TextureFormat `json:"format"`
	GPU    int64                 `json:"gpu"`
}

// madeImages are the files of images that earlier cooks have resized or compressed.
type madeImages struct {
	r      *recall
	folder string // of textures, in the output folder
}

// Take implements texture.Results.
func (x *madeImages) Take(k texture.Key, dir string, files []*texture.Cooked) bool {
	if x.r.fresh {
		return false
	}
	key := sum(k)
	if rec, ok := x.r.last.Images[key.String()]; ok && x.bring(&rec, dir, files) {
		x.remember(key, &rec)
		return true
	}
	if !x.r.shared.works() {
		return false
	}
	var rec imageRecord
	there := x.r.shared.record(key, &rec)
	if !there || !x.bring(&rec, dir, files) {
		x.r.miss(key, there)
		return false
	}
	x.r.hit(key)
	x.remember(key, &rec)
	return true
}

// bring writes the files of a record to dir, under the names that they have now.
func (x *madeImages) bring(rec *imageRecord, dir string, files []*texture.Cooked) bool {
	if len(rec.Files) != len(files) {
		return false
	}
	for i := range files {
		f, to := &rec.Files[i], files[i]
		if f.Width != to.Width || f.Height != to.Height || len(f.SHA256) != 2*sha256.Size || journal.CheckPath(f.Name) != nil {
			return false
		}
		if !x.copy(f.fileRecord, filepath.Join(dir, to.File)) {
			for k := range i {
				os.Remove(filepath.Join(dir, files[k].File))
			}
			return false
		}
		f.Name = path.Join(x.folder, to.File)
	}
	for i, f := range rec.Files {
		to := files[i]
		to.Levels, to.Format, to.GPU, to.Size = f.Levels, f.Format, f.GPU, f.Size
	}
	return true
}

// copy writes the bytes of a file that lies in its place, or in the store.
func (x *madeImages) copy(f fileRecord, to string) bool {
	write := func(in io.Reader) error {
		out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		hash, _, err := hashAll(io.TeeReader(in, out))
		if err = errors.Join(err, out.Close()); err == nil && hash != f.SHA256 {
			err = errForeign
		}
		if err != nil {
			os.Remove(to)
		}
		return err
	}
	if x.r.inPlace(f) {
		in, err := x.r.out.files.Open(f.Name)
		if err != nil {
			return false
		}
		defer in.Close()
		return write(in) == nil
	}
	return x.r.shared.works() && x.r.shared.copy(f, write)
}

// Keep implements texture.Results.
func (x *madeImages) Keep(key texture.Key, dir string, files []*texture.Cooked) {
	rec := &imageRecord{}
	for _, c := range files {
		s, err := readSource(filepath.Join(dir, c.File), 0)
		if err != nil {
			return
		}
		rec.Files = append(rec.Files, madeFile{
			fileRecord: fileRecord{path.Join(x.folder, c.File), s.Size, s.SHA256},
			Width:      c.Width, Height: c.Height, Levels: c.Levels, Format: c.Format, GPU: c.GPU,
		})
	}
	x.remember(sum(key), rec)
}

// remember notes what was made of an image. Its files are complete.
func (x *madeImages) remember(key sum, rec *imageRecord) {
	var files []fileRecord
	for _, f := range rec.Files {
		files = append(files, f.fileRecord)
		x.r.out.note(f.entry())
	}
	defer x.r.share(key, files, nil, rec)
	x.r.mu.Lock()
	defer x.r.mu.Unlock()
	x.r.images[key.String()] = *rec
}

// madeImages returns what earlier cooks have made of images; nil for a dry run.
func (r *recall) madeImages(o *Options) texture.Results {
	if r == nil {
		return nil
	}
	return &madeImages{r, path.Join(o.PayloadDir, texture.Folder)}
}

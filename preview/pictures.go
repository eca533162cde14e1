package preview

import (
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"sync"
)

// pictures encodes PNG files beside the frames.
type pictures struct {
	jobs chan job
	wait sync.WaitGroup
	mu   sync.Mutex
	err  error
	used map[string]bool // names that are taken, written or not
}

type job struct {
	path string
	img  *image.NRGBA
}

// encoders is how many files are written at a time; as many frames wait.
const encoders = 2

func newPictures() *pictures {
	p := &pictures{jobs: make(chan job, encoders), used: map[string]bool{}}
	for range encoders {
		p.wait.Go(func() {
			for j := range p.jobs {
				if err := writePNG(j.path, j.img); err != nil {
					p.mu.Lock()
					p.err = errors.Join(p.err, err)
					p.mu.Unlock()
				}
			}
		})
	}
	return p
}

// failed returns the first failure so far.
func (p *pictures) failed() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// close waits for what is being written.
func (p *pictures) close() error {
	close(p.jobs)
	p.wait.Wait()
	return p.err
}

// picture writes the frame that was just drawn, if it is wanted.
func (a *app) picture() error {
	if a.input.shot {
		a.input.shot = false
		path := a.pics.free("shot", ".png")
		a.pics.jobs <- job{path, a.r.ReadPixels()}
		a.messages.notify("picture: " + path)
	}
	if a.o.RecordDir == "" {
		return nil
	}
	if err := a.pics.failed(); err != nil {
		return err
	}
	a.pics.jobs <- job{filepath.Join(a.o.RecordDir, fmt.Sprintf("frame-%05d.png", a.frame)), a.r.ReadPixels()}
	return nil
}

// free returns the first of name-1, name-2, ... that is no file yet.
func (p *pictures) free(name, ext string) string {
	for i := 1; ; i++ {
		path := fmt.Sprintf("%s-%d%s", name, i, ext)
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) && !p.used[path] || i > 1e6 {
			p.used[path] = true
			return path
		}
	}
}

// savePath ends a recording.
func (a *app) savePath() {
	path := a.pics.free("path", ".json")
	if err := a.cam.recording.Save(path); err != nil {
		a.messages.reportError("the path was not saved: " + err.Error())
	} else {
		a.messages.notify("path: " + path)
	}
	a.cam.recording = nil
}

package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/untoldkit/untold/format/utex"
	"github.com/untoldkit/untold/internal/astc"
)

// peers are other encoders.
type peers struct {
	astcenc, bc7e string // paths; "": is not here
	dir           string // for their files
}

// astc lets astcenc compress a texture, on one core. The time is the one that it says.
func (p peers) astc(s *sample, f astc.Footprint, preset string) ([]byte, time.Duration, error) {
	dir, err := os.MkdirTemp(p.dir, "*")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "a.png"), filepath.Join(dir, "a.astc")
	var b bytes.Buffer
	if err := png.Encode(&b, s.packed()); err != nil {
		return nil, 0, err
	}
	if err := os.WriteFile(in, b.Bytes(), 0o644); err != nil {
		return nil, 0, err
	}
	how := "-cl"
	if s.sRGB() {
		how = "-cs"
	}
	said, err := exec.Command(p.astcenc, how, in, out, f.String(), preset, "-j", "1").CombinedOutput()
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %s", err, said)
	}
	var seconds float64
	for line := range strings.Lines(string(said)) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "Coding time:"); ok {
			seconds, _ = strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(rest), " s"), 64)
		}
	}
	data, err := os.ReadFile(out)
	if err == nil && len(data) < 16 {
		err = fmt.Errorf("astcenc wrote %d bytes", len(data))
	}
	if err != nil {
		return nil, 0, err
	}
	return data[16:], time.Duration(seconds * 1e9), nil
}

// bc7 lets bc7e compress a picture, and decodes it.
func (p peers) bc7(img *image.NRGBA, level string) ([]byte, time.Duration, error) {
	dir, err := os.MkdirTemp(p.dir, "*")
	if err != nil {
		return nil, 0, err
	}
	defer os.RemoveAll(dir)
	in, out := filepath.Join(dir, "a.rgba"), filepath.Join(dir, "a.bc7")
	if err := os.WriteFile(in, img.Pix, 0o644); err != nil {
		return nil, 0, err
	}
	w, h := img.Rect.Dx(), img.Rect.Dy()
	var complaint bytes.Buffer
	cmd := exec.Command(p.bc7e, level, strconv.Itoa(w), strconv.Itoa(h), in, out)
	cmd.Stderr = &complaint
	said, err := cmd.Output()
	if err != nil {
		return nil, 0, fmt.Errorf("%w: %s", err, complaint.Bytes())
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(said)), 64)
	if err != nil {
		return nil, 0, err
	}
	blocks, err := os.ReadFile(out)
	if err != nil {
		return nil, 0, err
	}
	pix, err := utex.Decode(utex.BC7, blocks, w, h)
	return pix, time.Duration(seconds * 1e9), err
}

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
	"github.com/untoldkit/untold/preview"
)

// TestPreviewTextureTooLarge: a picture that would take too much memory costs the
// preview neither that nor the scene; what is drawn white is said on the terminal,
// in real time and in virtual.
func TestPreviewTextureTooLarge(t *testing.T) {
	if !preview.Available {
		t.Skip("built without OpenGL (cgo)")
	}
	scene := cookScene(t, paintedScene(t))
	pictures, err := filepath.Glob(filepath.Join(filepath.Dir(scene), "tiles", "Textures", "*.png"))
	if err != nil || len(pictures) != 1 {
		t.Fatal(pictures, err)
	}
	// A progressive JPEG of 8192 x 8192 pixels, by its header.
	heavy := []byte{0xff, 0xd8, 0xff, 0xc2, 0, 17, 8, 0x20, 0, 0x20, 0, 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 0xff, 0xda, 0, 2}
	testfile.Write(t, pictures[0], append(heavy, make([]byte, 4096)...))
	for _, clock := range []string{"", "--fixed-dt 0.05"} {
		args := strings.Fields("preview " + scene + " --headless --size 64x48 --samples 1 --shadows -1 --frames 30 --stats - " + clock)
		r := here(t, append(args, "--screenshot", filepath.Join(t.TempDir(), "a.png"), "--fail-if", "triangles<12")...)
		if r.code != 0 || strings.Count(r.err, "drawn white") != 1 ||
			!strings.Contains(r.err, "a texture is drawn white: Textures/"+filepath.Base(pictures[0])+": JPEG: texture: too many pixels: decoding 8192 x 8192 takes some 1275 MB") {
			t.Errorf("%q: exit %d\n%s%s", clock, r.code, r.stdout, r.err)
		}
	}
}

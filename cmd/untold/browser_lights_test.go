package main

import (
	"image"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/imagediff"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/preview/render"
)

// TestBrowserLights: the page starts at a camera that its address names, and shows the
// scene's lights and its grading as preview does.
func TestBrowserLights(t *testing.T) {
	const width, height, pixelsPerDegree, most = 320, 240, 67, 0.03
	b := startBrowser(t, width, height)
	dir := litYard(t, "--grade", handOn(t))
	scene := filepath.Join(dir, "yard.json")
	m, err := manifest.Load(scene)
	if err != nil {
		t.Fatal(err)
	}
	v, err := preview.ViewpointOf(m, "Above")
	if err != nil {
		t.Fatal(err)
	}
	v.Camera.Aspect = 0
	s := startServe(t, dir)
	pictures := map[string]image.Image{}
	for _, query := range []string{"", "&grade=off", "&lights=preview"} {
		st := b.open(t, s.url+"?shadows=-1&samples=1"+query+"#camera=Above", 3)
		if st.Undrawn != 0 || st.Draws == 0 || st.Position != v.Camera.Position {
			t.Errorf("%q: %+v", query, st)
		}
		pictures[query] = b.picture(t)
	}
	want := native(t, scene, &v.Camera, render.Options{ShadowSize: -1, Samples: 1}, width, height)
	for query, img := range pictures {
		d, err := imagediff.FLIP(want, img, pixelsPerDegree)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%q: mean FLIP %.4f to the graded picture of the scene's lights", query, d.Mean())
		if same := d.Mean() <= most; same != (query == "") {
			keep := filepath.Join(t.ArtifactDir(), strings.Trim("x"+query, "&")+".png")
			writePicture(t, keep, img)
			t.Errorf("%q: mean FLIP %.4f; picture: %s (-artifacts keeps it)", query, d.Mean(), keep)
		}
	}
	b.quiet(t)
}

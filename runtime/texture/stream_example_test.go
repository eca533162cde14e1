package texture_test

import (
	"context"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/texture"
	"github.com/untoldkit/untold/runtime/texture/texfile"
)

// The runtime's defaults are those of the profile that they name.
func TestDefaultsAreOfTheirProfile(t *testing.T) {
	got := config.Default().Texture
	if want, err := texture.ProfileNamed(got.Profile); err != nil || got != want {
		t.Errorf("%+v, want %+v, %v", got, want, err)
	}
}

// screen is a Device that only says what it is given.
type screen struct{}

func (screen) Upload(id texture.ID, img *texfile.Image) error {
	fmt.Println("texture", id, "at", img.Levels[0].Width, "x", img.Levels[0].Height)
	return nil
}

func (screen) Release(id texture.ID) { fmt.Println("texture", id, "released") }

func ExampleStreamer() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, "wall.png"))
	if err != nil {
		panic(err)
	}
	if err := png.Encode(file, image.NewNRGBA(image.Rect(0, 0, 2048, 1024))); err != nil {
		panic(err)
	}
	file.Close()

	params, err := texture.AlignToManifest(30, 60)
	if err != nil {
		panic(err)
	}
	s, err := texture.NewStreamer(texture.StreamOptions{Params: params, Device: screen{}, Budget: 64 << 20})
	if err != nil {
		panic(err)
	}
	defer s.Close()

	// For every mesh of an asset that has been uploaded:
	wall := s.Add(texture.Part{
		Min: [3]float64{0, 0, 0}, Max: [3]float64{10, 3, 0.2},
		Slots: []texture.Slot{{Dir: dir, URI: "wall.png", Use: texfile.Color}},
	})
	// In every frame, here until nothing is left to do:
	for _, z := range []float64{50, 10, 500} {
		fmt.Println("from", z, "m:")
		for s.Update(texture.View{Camera: [3]float64{5, 2, z}, Visible: []texture.Entity{wall}, Force: true}); !s.Idle(); {
			if err := s.Await(context.Background()); err != nil {
				panic(err)
			}
			s.Update(texture.View{Camera: [3]float64{5, 2, z}, Visible: []texture.Entity{wall}, Force: true})
		}
	}
	// Output:
	// from 50 m:
	// texture 1 at 256 x 128
	// texture 1 at 1024 x 512
	// from 10 m:
	// texture 1 at 2048 x 1024
	// from 500 m:
	// texture 1 at 256 x 128
	// texture 1 released
}

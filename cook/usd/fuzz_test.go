package usd

import (
	"archive/zip"
	"context"
	"encoding/binary"
	"errors"
	"image/color"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/fuzzbound"
)

// wood is a picture.
var wood = pngOf(color.NRGBA{200, 100, 50, 255}, 4)

// check verifies what must hold for any bytes: a scene whose geometry can be read, or an
// error of a known kind in one line.
func check(t *testing.T, data []byte, name string, beside memory) {
	fuzzbound.Run(t, len(data), fuzzbound.Limits{Time: 20 * time.Second, Alloc: 128 << 20, PerByte: 4096}, func() {
		made, err := parse(data, name, beside, Options{Memory: 4 << 20, AllowMissing: true})
		if err != nil {
			var e *gltfscene.Error
			if !errors.As(err, &e) || e.Reason == "" || strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Fatalf("bad error: %#v", err)
			}
			return
		}
		defer made.Close()
		var bin []byte
		if made.Buffer != nil {
			bin = make([]byte, made.Size)
			if _, err := made.Buffer.ReadAt(bin, 0); err != nil {
				t.Fatal(err)
			}
		}
		// The document and its buffer as a GLB.
		text := append([]byte{}, made.JSON...)
		for len(text)%4 > 0 {
			text = append(text, ' ')
		}
		file := binary.LittleEndian.AppendUint32([]byte("glTF\x02\x00\x00\x00"), uint32(20+len(text)+8+len(bin)))
		file = append(append(binary.LittleEndian.AppendUint32(file, uint32(len(text))), "JSON"...), text...)
		file = append(append(binary.LittleEndian.AppendUint32(file, uint32(len(bin))), "BIN\x00"...), bin...)
		if _, err := gltfscene.LoadBytes(context.Background(), "x.glb", file, gltfscene.Options{Scene: -1, AllowMissingImages: true, Jobs: 1}); err != nil && !errors.Is(err, gltfscene.ErrTooLarge) {
			t.Fatalf("what was made does not load: %v\n%s", err, made.JSON)
		}
	})
}

func room(f *testing.F, ext string) string { return stored(f, "room."+ext) }

func stored(f *testing.F, name string) string {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		f.Fatal(err)
	}
	return string(data)
}

func FuzzUSDA(f *testing.F) {
	f.Add([]byte(room(f, "usda")))
	f.Add([]byte(head + "def \"World\" (\nreferences = [@b.usda@, </C>]\n) {\ndef Cone \"A\" {}\n}\ndef Mesh \"C\" {" + quad + "}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, data, "a.usda", memory{"wood.png": wood, "b.usda": head + "def Plane \"World\" {}", "c.usda": "#usda 1.0\n(subLayers=[@a.usda@])\n"})
	})
}

func FuzzUSDC(f *testing.F) {
	f.Add([]byte(room(f, "usdc")))
	f.Add([]byte(stored(f, "room_old.usdc"))) // of version 0.0
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data, "a.usdc", memory{"wood.png": wood}) })
}

func FuzzUSDZ(f *testing.F) {
	f.Add([]byte(packed(f, zip.Store, "room.usdc", room(f, "usdc"), "wood.png", wood)))
	f.Add([]byte(packed(f, zip.Store, "a.usda", head+"def \"World\" (references = @b.usdz@) {}", "b.usdz", packed(f, zip.Store, "b.usda", head+"def Cube \"World\" {}"))))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data, "a.usdz", memory{}) })
}

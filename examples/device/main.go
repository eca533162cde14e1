// Device streams a scene into a graphics device of its own: one that keeps copies of the
// vertices and indices that it would upload, makes them drawable a frame later, and
// counts. A renderer does the same with buffers of its graphics API.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// buffers are one representation of a tile on the device.
type buffers struct {
	vertices, indices []byte
	triangles         int
	frame             int // in which it came
}

// keeper is the runtime.Device and the runtime.Visibility. All its methods are called on
// the goroutine that calls Update: it needs no lock.
type keeper struct {
	limit    int // bytes that fit
	frame    int
	resident map[payload.Key]*buffers
	bytes    int
	peak     int
	uploads  int
	releases int
	refused  int
}

// errFull fails a load, which is tried again later; a budget (geometryBudget) keeps it
// from coming to that.
var errFull = errors.New("no memory is left on the device")

// Upload copies a representation, and releases the asset: its buffers are used again.
func (k *keeper) Upload(key payload.Key, asset *payload.Asset) error {
	if asset == nil {
		return nil
	}
	size := len(asset.Geometry.Vertices) + len(asset.Geometry.Indices)
	if k.bytes+size > k.limit {
		k.refused++
		return errFull // the Streamer releases the asset then
	}
	b := &buffers{vertices: append([]byte(nil), asset.Geometry.Vertices...), indices: append([]byte(nil), asset.Geometry.Indices...), frame: k.frame}
	for i := range asset.Meshes {
		b.triangles += int(asset.Meshes[i].IndexCount / 3)
	}
	asset.Release()
	k.resident[key] = b
	k.bytes += size
	k.peak = max(k.peak, k.bytes)
	k.uploads++
	return nil
}

// Release frees a representation.
func (k *keeper) Release(key payload.Key) {
	if b := k.resident[key]; b != nil {
		k.bytes -= len(b.vertices) + len(b.indices)
		k.releases++
		delete(k.resident, key)
	}
}

// Drawable says that what came in an earlier frame is there: copies take their time.
func (k *keeper) Drawable(key payload.Key) bool {
	b := k.resident[key]
	return b == nil || b.frame < k.frame
}

// fly crosses the scene along X and returns how many triangles a frame drew at most.
func fly(manifest string, k *keeper) (most int, err error) {
	k.resident = map[payload.Key]*buffers{}
	s, err := runtime.Open(context.Background(), runtime.Source{Path: manifest}, config.Default(), runtime.Deps{Device: k, Visibility: k})
	if err != nil {
		return 0, err
	}
	camera := runtime.Camera{Forward: [3]float64{1, 0, 0}, FovYDegrees: 60, Aspect: 16.0 / 9, Near: 0.1, Far: 2000}
	for x := -400.0; x <= 400; x++ {
		k.frame++
		camera.Position = [3]float64{x, 2, 0}
		s.Update(camera, 16*time.Millisecond)
		if s.Stats().ActiveLoads > 0 {
			<-s.Ready() // offline: wait for the disk
		}
		triangles := 0
		for _, d := range s.AppendDrawn(nil) {
			if b := k.resident[d.Key]; b != nil {
				triangles += b.triangles
			}
		}
		most = max(most, triangles)
	}
	return most, s.Close()
}

func main() {
	k := &keeper{limit: 1 << 30}
	most, err := fly(os.Args[len(os.Args)-1], k)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d uploads and %d releases, %d bytes at most, %d triangles in a frame at most, %d refused\n",
		k.uploads, k.releases, k.peak, most, k.refused)
}

package remote

import (
	"bytes"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/internal/fake"
	"github.com/untoldkit/untold/runtime/payload"
	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// rowTile is a container with meshes in a row, 10 m apart.
func rowTile(t testing.TB, n int) []byte {
	t.Helper()
	return fake.Container(t, format.FileTile, format.ModeNone, n, 300, func(mesh, k int) [3]float32 {
		return [3]float32{float32(10 * mesh), float32(k%7) / 7, float32(k) / 300}
	})
}

// comparingDevice compares every part with the file that it is said to be of.
type comparingDevice struct {
	t    testing.TB
	file func() []byte
	on   map[int32]bool
}

func (d *comparingDevice) Upload(k payload.Key, a *payload.Asset) error {
	defer a.Release()
	if k.Part == 0 {
		d.t.Errorf("%+v is uploaded as a whole", k)
		return nil
	}
	r, err := format.NewBytesReader(d.file())
	if err != nil {
		d.t.Fatal(err)
	}
	i := int(k.Part) - 1
	v, _ := r.MeshVertices(i, nil)
	x, _ := r.MeshIndices(i, nil)
	m := &a.Meshes[0]
	if len(a.Meshes) != 1 || !bytes.Equal(a.Geometry.Vertices[m.VertexOffset:][:m.VertexSize], v) || !bytes.Equal(a.Geometry.Indices[m.IndexOffset:][:m.IndexSize], x) {
		d.t.Errorf("part %d has other bytes", k.Part)
	}
	if len(a.Geometry.Vertices) > len(v)+32 {
		d.t.Errorf("part %d holds %d bytes of vertices", k.Part, len(a.Geometry.Vertices))
	}
	d.on[k.Part] = true
	return nil
}

func (d *comparingDevice) Release(k payload.Key) { delete(d.on, k.Part) }

// playRow streams a row of 60 meshes in a tile of its own, over an origin that
// knows ranges.
func playRow(t *testing.T, data []byte, play func(s *stage, d *comparingDevice), opts ...rigOption) {
	d := &comparingDevice{t: t, file: func() []byte { return data }, on: map[int32]bool{}}
	onStage(t, func(s *stage) *manifest.Manifest {
		s.ranges, s.device = true, d
		s.origin.put(sceneBase+"tiles/row.untold", data)
		box := manifest.Bounds{Max: [3]float64{590, 1, 1}}
		return &manifest.Manifest{Tiles: []manifest.Tile{{
			ID: "row", Path: "tiles/row.untold", Bounds: box, Center: box.Center(), FileSizeBytes: int64(len(data)), SHA256: remotetest.HashOf(data),
		}}}
	}, func(s *stage) { play(s, d) }, opts...)
}

// A tile streams mesh by mesh over a bad network: only what is near comes, every
// byte is right, and nothing is asked for twice.
func TestSceneInParts(t *testing.T) {
	data := rowTile(t, 60)
	var mu sync.Mutex
	known := map[string]bool{}
	playRow(t, data, func(s *stage, d *comparingDevice) {
		s.latency = func(*http.Request) time.Duration { return 40 * time.Millisecond }
		s.status = func(req *http.Request) int {
			mu.Lock()
			defer mu.Unlock()
			if r := req.Header.Get("Range"); !known[r] { // every first one fails
				known[r] = true
				return 503
			}
			return 0
		}
		s.frames(10, nil)
		m := s.f.Metrics()
		if len(d.on) != 6 || m.PartialFiles != 1 || m.BytesFetched > int64(len(data))/3 || m.BytesSaved < int64(len(data))*2/3 || m.Retries == 0 {
			t.Errorf("%d parts, %+v of %d bytes", len(d.on), m, len(data))
		}
		if st := s.s.Stats(); st.Failures != 0 || st.MeshFailures != 0 || st.OutOfCoreTiles != 1 {
			t.Errorf("%+v", st)
		}
		s.camera[0] = 300
		s.frames(20, nil)
		if !d.on[31] || d.on[1] {
			t.Errorf("at 300 m: %v", d.on)
		}
		before := s.f.Metrics().BytesFetched
		s.camera[0] = 0
		s.frames(30, nil)
		if got := s.f.Metrics().BytesFetched; got != before || !d.on[1] {
			t.Errorf("%d bytes again, %v", got-before, d.on)
		}
	})
}

// A server that sends nonsense once: the meshes fail, and what it has sent is
// not kept.
func TestScenePartsOfNonsense(t *testing.T) {
	data := rowTile(t, 60)
	table, chunks, err := format.ReadTable(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(chunks) != 7 || table.FileType != format.FileTile {
		t.Fatal(err)
	}
	indices := chunks[6].Offset
	playRow(t, data, func(s *stage, d *comparingDevice) {
		var once sync.Once
		inner := s.origin.answer
		s.origin.mu.Lock()
		s.origin.answer = func(req *http.Request) (*http.Response, error) {
			resp, err := inner(req)
			if err != nil {
				return nil, err
			}
			if from, _, _, ok := contentRange(resp.Header.Get("Content-Range")); ok && from <= int64(indices) && from+lineBytes > int64(indices) {
				once.Do(func() { resp.Body = io.NopCloser(ones{}) })
			}
			return resp, nil
		}
		s.origin.mu.Unlock()
		s.frames(4, nil)
		if st := s.s.Stats(); st.MeshFailures == 0 || len(d.on) != 0 {
			t.Errorf("%d parts, %+v", len(d.on), st)
		}
		s.frames(15, nil)
		if len(d.on) != 6 {
			t.Errorf("%d parts, %+v", len(d.on), s.s.Stats())
		}
	})
}

// ones is a body of bytes that no index may have.
type ones struct{}

func (ones) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 0xff
	}
	return len(p), nil
}

// The same scene without ranges, and with them switched off.
func TestSceneWithoutParts(t *testing.T) {
	data := rowTile(t, 60)
	for _, off := range []bool{false, true} {
		playRow(t, data, func(s *stage, d *comparingDevice) {
			s.ranges = off
			s.frames(10, nil)
			if m := s.f.Metrics(); len(d.on) != 6 || m.PartialFiles != 0 || m.BytesFetched != int64(len(data)) || m.Requests != 1 {
				t.Errorf("%d parts, %+v", len(d.on), m)
			}
		}, func(o *Options) {
			if off {
				o.Ranges = RangesOff
			}
		})
	}
}

// A file that is replaced while its tile is resident is never mixed: what is
// drawn stays, and the new version, which the manifest does not declare, is
// refused.
func TestSceneWhoseFileIsReplaced(t *testing.T) {
	data := rowTile(t, 60)
	playRow(t, data, func(s *stage, d *comparingDevice) {
		s.frames(5, nil)
		if len(d.on) != 6 {
			t.Fatalf("%d parts", len(d.on))
		}
		s.origin.put(sceneBase+"tiles/row.untold", rowTile(t, 61))
		s.camera[0] = 90 // some of what is wanted there has come along before
		s.frames(40, nil)
		if st := s.s.Stats(); st.MeshFailures == 0 || st.Failures == 0 || len(d.on) < 6 || len(d.on) > 11 || st.OutOfCoreTiles != 1 {
			t.Errorf("%d parts, %+v", len(d.on), st)
		}
		s.origin.put(sceneBase+"tiles/row.untold", data)
		s.frames(150, nil)
		if len(d.on) < 15 {
			t.Errorf("the old version is back, but there are %d parts", len(d.on))
		}
	})
}

// Closing everything in the middle of requests leaves nothing behind.
func TestCloseWithPartsUnderWay(t *testing.T) {
	data := rowTile(t, 60)
	playRow(t, data, func(s *stage, _ *comparingDevice) {
		s.latency = func(*http.Request) time.Duration { return 2 * time.Second }
		s.frames(3, nil)
		if s.origin.busy() == 0 {
			t.Error("nothing is under way")
		}
	})
}

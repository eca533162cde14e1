package batch_test

import (
	"fmt"

	"github.com/untoldkit/untold/format/records"
	"github.com/untoldkit/untold/format/vertex"
	"github.com/untoldkit/untold/preview/internal/batch"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/payload"
)

// device stands for a renderer.
type device struct{}

func (device) Upload(id batch.ID, u batch.Upload) error {
	fmt.Printf("batch %d: %d bytes of vertices, drawn like mesh %d\n", id, len(u.Buffers.Vertices), u.Like.Mesh)
	u.Buffers.Release()
	return nil
}
func (device) Drawable(batch.ID) bool { return true }
func (device) Release(batch.ID)       {}

// builder merges at once; a program uses batch.NewWorkers.
type builder struct {
	source batch.Source
	pool   batch.Pool
}

func (b *builder) Start(job *batch.Job) { job.Finish(job.Merge(b.source, &b.pool)) }

func Example() {
	// A tile with three meshes of one triangle, as a Loader would bring it.
	asset := payload.NewAsset(nil)
	asset.Entities = []records.Entity{{ParentID: records.NoIndex, MeshCount: 3, LocalTransform: [16]float32{0: 1, 5: 1, 10: 1, 15: 1}}}
	for i := range 3 {
		asset.Meshes = append(asset.Meshes, records.Mesh{
			Material: records.NoIndex, IndexType: vertex.Index16, VertexCount: 3, IndexCount: 3,
			VertexOffset: uint64(96 * i), VertexSize: 96, IndexOffset: uint64(6 * i), IndexSize: 6,
		})
		asset.Geometry.Vertices = append(asset.Geometry.Vertices, make([]byte, 96)...)
		asset.Geometry.Indices = append(asset.Geometry.Indices, 0, 0, 1, 0, 2, 0)
	}

	assets, materials := batch.NewAssets(0), batch.NewMaterials()
	b := batch.New(batch.Options{Builder: &builder{source: assets}, Device: device{}})
	defer b.Close()
	b.SetScene(1, 50)

	key := payload.Key{Scene: 1, Rep: payload.RepFull}
	assets.Put(key, asset)
	b.Add(key, batch.Items(asset, materials.Of(asset)))

	for range 3 {
		b.Update(batch.Frame{Drawn: []runtime.Drawn{{Key: key, Fade: 1}}})
		fmt.Println(len(b.AppendDraws(nil)), "batched,", len(b.AppendAlone(nil)), "alone")
	}
	// Output:
	// 0 batched, 3 alone
	// 0 batched, 3 alone
	// batch 1: 288 bytes of vertices, drawn like mesh 0
	// 1 batched, 0 alone
}

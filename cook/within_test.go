package cook

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/untoldkit/untold/internal/testfile"
)

// TestAnyMemory: the bytes do not depend on how much memory there is, and so not on
// whether geometry is kept, decoded again, or waits for its turn.
func TestAnyMemory(t *testing.T) {
	scene := filepath.Join(t.TempDir(), "yard.gltf")
	y := newYard()
	y.write(t, scene)
	var want string
	for _, memory := range []int64{8 << 30, 2 << 20} {
		for _, jobs := range []int{1, 3} {
			o := ClassicOptions()
			o.Memory, o.Jobs = memory, jobs
			out := t.TempDir()
			mustRun(t, scene, out, o)
			got := testfile.ReadTree(t, out)
			for name := range got {
				if filepath.Ext(name) == ".state" {
					delete(got, name) // it holds times
				}
			}
			if text := fmt.Sprint(got); want == "" {
				want = text
			} else if text != want {
				t.Errorf("memory %d, %d jobs: other bytes", memory, jobs)
			}
		}
	}
}

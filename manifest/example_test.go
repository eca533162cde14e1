package manifest_test

import (
	"errors"
	"fmt"
	"os"

	"github.com/untoldkit/untold/manifest"
)

func ExampleDecode() {
	m, err := manifest.Decode([]byte(`{
  "version": 3,
  "partitioning_mode": "uniform_grid",
  "streaming_defaults": {"streaming_radius": 50, "unload_radius": 75, "priority": 10},
  "tiles": [
    {"tile_id": "tile_0_0_0", "path_relative_to_manifest": "tiles/tile_0_0_0.untold", "file_size_bytes": 4096,
     "bounds": {"min": [0, 0, -25], "max": [25, 8, 0]}, "center": [12.5, 4, -12.5],
     "hlod_levels": [{"path": "tiles/tile_0_0_0_hlod.untold", "switch_distance": 71}]}
  ]
}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for i := range m.Tiles {
		t := &m.Tiles[i]
		fmt.Println(t.ID, t.Path, m.BandsOf(t))
	}
	// Output: tile_0_0_0 tiles/tile_0_0_0.untold streaming 50, unload 75, hlod 71
}

func ExampleDecode_error() {
	_, err := manifest.Decode([]byte(`{
  "version": 3,
  "tile_size": 25,
  "tiles": []
}`))
	fmt.Println(err)
	var e *manifest.DecodeError
	fmt.Println(errors.Is(err, manifest.ErrWrongType), errors.As(err, &e), e.Pointer, e.Line)
	// Output:
	// manifest: wrong type: line 3, column 16 (byte 33): /tile_size: expected an object with x, y and z, found the number 25 (write {"x": N, "y": N, "z": N})
	// true true /tile_size 3
}

func ExampleManifest_Encode() {
	m := &manifest.Manifest{
		Version: manifest.VersionGrid, PartitioningMode: manifest.ModeUniformGrid, PayloadDir: "tiles",
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 50, UnloadRadius: 75, Priority: manifest.DefaultPriority},
	}
	if err := m.Encode(os.Stdout); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {
	//   "version": 3,
	//   "partitioning_mode": "uniform_grid",
	//   "dry_run": false,
	//   "debug_aabb_only": false,
	//   "source_scene_name": null,
	//   "payload_dir_relative_to_manifest": "tiles",
	//   "scene_lights": [],
	//   "scene_cameras": [],
	//   "colorLUT": null,
	//   "streaming_defaults": {"streaming_radius": 50, "unload_radius": 75, "priority": 10},
	//   "object_classification": {},
	//   "shared_bucket": null,
	//   "failed_tiles": [],
	//   "tiles": []
	// }
}

func ExampleNormalize() {
	n, err := manifest.Normalize([]byte(`{
  "version": 3, "my-tool": {"revision": 7},
  "streaming_defaults": {"streaming_radius": 50, "unload_radius": 75, "priority": 10},
  "tiles": [
    {"tile_id": "tile_0_0_0", "path_relative_to_manifest": "tiles\\tile_0_0_0.untold", "file_size_bytes": 4096,
     "bounds": {"min": [0, 0, -25], "max": [25, 8, 0]}, "center": [12.5, 4999, -12.5],
     "hlod_levels": [{"path": "tiles/tile_0_0_0_hlod.untold", "switch_distance": 300}]}
  ]
}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", n.Text)
	for _, c := range n.Changes {
		fmt.Println(c.Pointer, c.Message)
	}
	// Output:
	// {
	//   "version": 3, "my-tool": {"revision": 7},
	//   "streaming_defaults": {"streaming_radius": 50, "unload_radius": 75, "priority": 10},
	//   "tiles": [
	//     {"tile_id": "tile_0_0_0", "path_relative_to_manifest": "tiles/tile_0_0_0.untold", "file_size_bytes": 4096,
	//      "bounds": {"min": [0, 0, -25], "max": [25, 8, 0]}, "center": [12.5, 4, -12.5],
	//      "hlod_levels": [{"path": "tiles/tile_0_0_0_hlod.untold", "switch_distance": 74}]}
	//   ]
	// }
	// /tiles/0/path_relative_to_manifest "tiles\\tile_0_0_0.untold" -> "tiles/tile_0_0_0.untold"
	// /tiles/0/center [12.5, 4999, -12.5] -> [12.5, 4, -12.5]
	// /tiles/0/hlod_levels/0/switch_distance 300 -> 74
}

func ExampleValidate() {
	m := &manifest.Manifest{
		Version: manifest.VersionFloor, PartitioningMode: manifest.ModeUniformGrid,
		StreamingDefaults: manifest.StreamingDefaults{StreamingRadius: 6, UnloadRadius: 10, Priority: 10},
		Tiles: []manifest.Tile{{
			ID: "a", Path: "../a.untold", FileSizeBytes: 1,
			HLODLevels: []manifest.Level{{Path: "a_hlod.untold", SwitchDistance: 20}},
		}},
	}
	for _, f := range manifest.Validate(m, "", manifest.ValidateOptions{}) {
		fmt.Println(f.Severity, f.Code, f.Pointer, "-", f.Message)
	}
	// Output:
	// error path-escapes /tiles/0/path_relative_to_manifest - the path "../a.untold" holds ".."
	// warning tile-bands /tiles/0 - the engine changes the distances from (streaming 6, unload 10, hlod 20) to (streaming 6, unload 10, hlod 10)
}

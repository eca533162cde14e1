// Package cook turns glTF scenes into .untold tiles and a manifest, or single
// models into single containers.
//
// The same scene and options give the same bytes, whatever Options.Jobs is and
// on every machine. Output appears under its final name only when the whole
// cook has succeeded: payloads first, the manifest last.
package cook

import (
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/cook/store"
	"github.com/untoldkit/untold/format"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/journal"
	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/partition"
)

// ErrNothing says that a scene holds no triangle that could be cooked.
var ErrNothing = errors.New("nothing to cook")

// Options control Run and Convert. DefaultOptions fills in the documented
// defaults.
type Options struct {
	InputOptions
	GridOptions
	LevelOptions
	TextureOptions
	OutputOptions

	// Compat switches the deliberate differences from the reference exporter
	// off that have no option of their own: grids list their cells as bounds,
	// floors and tiers are found as it finds them, switch distances are not
	// fitted to what the engine leaves unchanged. EngineOptions sets it
	// together with the options that have their own.
	Compat bool
	// Memory is the main memory, in bytes, that the cook may count on: containers
	// that would take more together are built one after the other, like images.
	// It does not change what is written. 0 means DefaultMemory.
	Memory int64
	// Jobs is how many tiles are built at a time; 0 means all processors.
	Jobs int
	// Store, when set, has results that several cooks share: what is there is not made
	// again, and what is made is put there. When it fails a note says so, and the cook
	// goes on without it.
	Store *store.Store
	// RequireStore makes a tile that is in neither an earlier cook nor the store an error,
	// which matches ErrNotInStore: shards were to make it.
	RequireStore bool
	// Plan is the path of a file that WritePlan has written, of the same scene with the same
	// options: what it knows is not found out again, and of the scene's geometry that alone
	// is read which is cooked. A plan of something else is an error that matches
	// ErrStalePlan, a damaged one ErrDamagedPlan. Empty is none.
	Plan string
	// Explain names tiles, nodes and objects that Result.Explained is to tell about.
	Explain []string
	// Progress, when set, is called as work proceeds: done of total units of a
	// stage. Calls come from one goroutine at a time.
	Progress func(stage string, done, total int)

	// wrap, in tests, stands between the cook and its files, like a disk that
	// runs full.
	wrap func(io.Writer) io.Writer
	// faults, in tests, stands between the cook and the output folder and stops
	// or fails at chosen calls.
	faults func(journal.FS) journal.FS
	// listed, above 0, takes the place of the constant in tests.
	listed int
	// nodeTexels, above 0, takes the place of the constant in tests.
	nodeTexels int
	// lookSide, above 0, is how many pixels pictures of levels have at least in tests:
	// most of a small scene's time goes into them.
	lookSide float64
	planner  *planWriter   // what is found out goes to a plan
	planned  *plannedScene // what Plan holds
	// read, when set, counts the bytes that are read of the scene's files.
	read *atomic.Int64
	// storeTimeout, above 0, takes the place of the constant in tests.
	storeTimeout time.Duration
}

// InputOptions say what is read.
type InputOptions struct {
	// Scene is the index of the glTF scene, -1 for the file's default.
	Scene int
	// AllowParentPaths lets the scene name files above its own folder.
	AllowParentPaths bool
	// AllowMissingImages leaves out textures whose file is missing or damaged, and MTL
	// files that are missing.
	AllowMissingImages bool
	// Items are what the scene consists of, where that is more than one file: the path of
	// the scene is then no file, but the place and name of one that there might be.
	Items []Item `json:",omitempty"`
	// Up is the axis that points upwards in OBJ, PLY and STL files, "y" or "z"; empty is
	// each format's habit: y for OBJ, z for PLY and STL.
	Up string `json:",omitempty"`
	// Metres is how long a unit of these files is; 0 is a metre.
	Metres float64 `json:",omitzero"`
	// Recenter takes an offset off coordinates that lie far from the origin.
	Recenter Recenter
	// MaxTriangles is how many triangles the scene may place, those of a mesh
	// once for every node that shows it, and in how many pieces Clip may cut
	// them. 0: neither a container nor the cutting of an object may need more than Memory
	// by estimates, and the pieces that wait for their tiles, in memory or in a temporary
	// file, no more than Memory or eight times what the objects do; below 0: any number.
	// More are an error that matches gltfscene.ErrTooLarge, before memory is taken for them.
	MaxTriangles int
}

// GridOptions say how the scene is cut into tiles, by a grid or, with floors, by trees.
type GridOptions struct {
	// Partition is grid, quadtree or kdtree; empty is grid. The trees cut the
	// scene into floors, floors into nodes and nodes into semantic tiers; an
	// object is in exactly one tile and never cut, so Clip and SplitMaxTiles
	// are for grids.
	Partition string
	// Floors controls the quadtree and the kd-tree. Its TileSide is the longer
	// side of TileSize when it is 0.
	Floors partition.FloorOptions
	// TileSize is the pitch of the grid in metres: x and z on the ground, y
	// upwards. Where x or z is 0, the default, it follows from the scene, for
	// TileTriangles a tile: see partition.FitTileSize. Default 0, 10000, 0. With
	// floors, and Compat, 0 is 25.
	TileSize geom.Vec3
	// TileTriangles is how many triangles a tile should have when the scene
	// decides about TileSize. Default 50,000.
	TileTriangles int
	// AutoTileSize chooses x and z of TileSize, for at most 2000 tiles of at
	// most 32 objects. For grids.
	AutoTileSize bool
	// SampleFraction keeps this part of a grid's tiles, those around the
	// world's origin: a quick look at a large scene. 0 or 1 keeps all.
	SampleFraction float64
	// PerimeterDepth keeps this many rings of tiles at the outside of a grid's
	// occupied area; 0 keeps all.
	PerimeterDepth int
	// Clip cuts geometry exactly at the borders of the tiles, so that every
	// triangle's area is in one tile; spanning objects are cut too. Off, whole
	// objects are written into every tile that they overlap, and spanning ones
	// go to the shared bucket. Default true.
	Clip bool
	// SplitMaxTiles: a spanning object that overlaps more tiles than this goes
	// to the shared bucket instead of being cut, unless it has 64 triangles or more for
	// each. Default 400; with a Pyramid, which does not have what lies in the bucket,
	// eight times the tiles that other objects are in, if that is more.
	SplitMaxTiles int
	// Merge joins the meshes of a tile that have equal materials. Objects whose
	// name starts with NM_ or whose extra untold_no_merge is true stay alone.
	// Default true.
	Merge bool
	// Instances stores a mesh that is used several times inside one tile, and
	// not cut by its border, once: the entities carry the transforms. Mirrored
	// uses are baked all the same. Default false: everything is baked.
	Instances bool
}

// LevelOptions say which levels are made, and from how far they are wanted.
type LevelOptions struct {
	// FitDistances derives all distances from the scene: a level begins where
	// what is seen of its error is LODErrorPixels high, on a screen of LevelHeight
	// pixels with a vertical field of view of LevelFovY degrees; a tile's coarsest
	// representation is wanted until its largest object is two pixels high. The
	// distances of LODs and HLODs do not count then. Off, the radii are the
	// exporter's, and the levels' distances lie between them. Default true.
	FitDistances bool
	// WholeLimit: with FitDistances a scene whose full tiles take no more bytes
	// of video memory is wanted whole, and has no levels. Default 64,000,000; 0
	// makes levels of every scene.
	WholeLimit int64
	// ViewDistance, with FitDistances and above 0, is how far anything is wanted
	// at most, in metres: all switches and ends are fitted into it.
	ViewDistance float64
	// LODs and HLODs are the levels to make of every tile (with floors, of the
	// exterior shell's and the structure's). Default DefaultLevels. The package
	// manifest has the exporter's.
	LODs  []manifest.LODLevel
	HLODs []manifest.HLODLevel
	// LODErrorPixels: with FitDistances see there; default 2. Without it, when
	// above 0, it puts the switches where a level's greatest distance from the
	// full geometry is so many pixels high, as far as the bands allow; default 0.
	LODErrorPixels float64
	// LODMaxErrorPixels: no level has an error of more pixels where it begins,
	// even if it keeps more triangles than its ratio says; what cannot keep to
	// it is left out. Not less than LODErrorPixels. Default 24; below 0
	// is no limit.
	LODMaxErrorPixels float64
	LevelFovY         float64 // default 60
	LevelHeight       int     // default 1080
	// LODMinTriangles: levels with fewer are left out. Default 12.
	LODMinTriangles int
	// HLODMaxTexture is the longest side, in pixels, of textures of HLODs.
	// Default 256.
	HLODMaxTexture int
	// Pyramid makes merged HLODs above the tiles, each with baked textures, up to one that
	// stands for all of them but those that are wanted only from within. Default false.
	Pyramid bool
	// AutoPyramid makes a Pyramid of scenes with more than 400 tiles. Default true.
	AutoPyramid bool
	// HLODAtlas bakes the base colours of an HLOD into one texture of at most
	// HLODMaxTexture pixels a side, so that it is one draw. Normal maps and
	// light that materials emit are lost, blended parts stay apart.
	HLODAtlas bool
}

// TextureOptions say what becomes of images.
type TextureOptions struct {
	// Textures says what becomes of the images: copied, resized, or compressed
	// with mip chains: in .utex files to BC7 and BC5 or to ASTC, or in KTX2 files to
	// UASTC, which every device can turn into its own blocks. The reference engine
	// reads ASTC alone. Default copy.
	Textures TextureMode
	// ASTC says how TexturesASTC compresses, and by High how much TexturesBC tries;
	// with other modes it must be zero.
	ASTC ASTCOptions `json:",omitzero"`
	// MaxTexture is the longest side, in pixels, that resized and compressed
	// textures keep. 0 means DefaultMaxTexture for resized and no limit for
	// compressed ones; with copies it must be 0.
	MaxTexture int
}

// containers says how containers are written.
func (o *OutputOptions) containers() format.WriteOptions {
	return format.WriteOptions{Compress: o.Compress, Version: o.ContainerVersion}
}

// OutputOptions say what is written, and where to.
type OutputOptions struct {
	// PayloadDir is the folder of the tiles, relative to the output folder.
	// Default "tiles".
	PayloadDir string
	// Compress chooses how geometry chunks are stored. Default auto.
	Compress format.CompressMode
	// ContainerVersion is the format version of the containers, 1 to
	// format.MaxVersion; 0 is 1, which all engines read. From 2 on today's engine shows
	// what shines: of version 1 it takes emissive factors for black.
	ContainerVersion uint32 `json:",omitempty"`
	// FileType is what Convert writes. Default tile.
	FileType format.FileType
	// Generator is what the manifest names as its program, such as
	// "untold 0.1.0".
	Generator string
	// Grade is the text of a .cube file by which pictures of the scene are graded, nil
	// for none: it is staged beside the tiles, and the manifest names it.
	Grade []byte `json:",omitempty"`
	// DryRun writes nothing: Result.Manifest lists the same tiles with size 0.
	DryRun bool
	// EstimateLevels: with FitDistances a dry run makes the levels of three tiles at most,
	// and estimates what those of the others would be: how many there are, their
	// triangles, and where they begin. The rest of the plan is the same.
	EstimateLevels bool `json:",omitempty"`
	// Report asks for Result.Report, which costs time and memory for every
	// object.
	Report bool
	// Full makes everything anew. By default what an earlier cook into the folder has
	// made out of the same is taken again; the bytes are the same either way.
	Full bool
	// Verify reads all files of the scene and of the output folder to see whether they
	// have changed, instead of trusting their size, time and number.
	Verify bool
	// NoSync leaves out the flushes to the disk: what was cooked then survives a
	// kill, but not a failure of the machine in the moments after.
	NoSync bool
}

// EnginePayloadDir is the reference exporter's name for the payload folder.
const EnginePayloadDir = "tile_exports"

// EngineOptions returns the defaults of the preset --compat engine, which
// cooks as the reference exporter does.
func EngineOptions() Options {
	o := ClassicOptions()
	o.Compat, o.Clip, o.PayloadDir = true, false, EnginePayloadDir
	return o
}

// ClassicOptions returns the defaults with tiles of 25 m, the exporter's radii
// and no levels: nothing is derived from the scene.
func ClassicOptions() Options {
	o := DefaultOptions()
	o.TileSize[0], o.TileSize[2] = partition.DefaultTileSide, partition.DefaultTileSide
	o.FitDistances, o.WholeLimit, o.LODs, o.HLODs, o.AutoPyramid = false, 0, nil, nil, false
	o.Recenter = Recenter{}
	return o
}

// DefaultLevels returns the LODs and the HLOD that are made by default, as parts
// of a tile's triangles.
func DefaultLevels() ([]manifest.LODLevel, []manifest.HLODLevel) {
	return []manifest.LODLevel{{DecimateRatio: 0.5}, {DecimateRatio: 0.2}}, []manifest.HLODLevel{{Suffix: "_hlod", ReductionRatio: 0.06}}
}

// DefaultOptions returns the documented defaults.
func DefaultOptions() Options {
	lods, hlods := DefaultLevels()
	return Options{
		InputOptions: InputOptions{Scene: -1, Recenter: Recenter{Auto: true}},
		GridOptions: GridOptions{
			TileSize:      geom.Vec3{0, partition.DefaultTileHeight, 0},
			TileTriangles: partition.DefaultTileTriangles,
			Clip:          true,
			SplitMaxTiles: partition.DefaultSplitMaxTiles,
			Merge:         true,
		},
		LevelOptions: LevelOptions{
			FitDistances: true, WholeLimit: DefaultWholeLimit, LODs: lods, HLODs: hlods,
			LODMaxErrorPixels: DefaultLevelMaxPixels, LevelFovY: DefaultLevelFovY, LevelHeight: DefaultLevelHeight,
			LODMinTriangles: DefaultLevelMinTriangles, HLODMaxTexture: DefaultHLODMaxTexture, AutoPyramid: true,
		},
		OutputOptions: OutputOptions{PayloadDir: "tiles", FileType: format.FileTile, Generator: "untold"},
	}
}

// generator is what the manifest names: with Compat it says so.
func (o *Options) generator() string {
	if o.Compat {
		return o.Generator + manifest.GeneratorParity
	}
	return o.Generator
}

func (o *Options) jobs() int {
	if o.Jobs > 0 {
		return o.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

func (o *Options) progress(stage string, done, total int) {
	if o.Progress != nil {
		o.Progress(stage, done, total)
	}
}

// fixTileSize gives a grid that is not to follow from the scene the exporter's
// tiles.
func (o *Options) fixTileSize() {
	for _, i := range []int{0, 2} {
		if o.TileSize[i] == 0 && (o.hasFloors() || o.Compat || o.AutoTileSize) {
			o.TileSize[i] = partition.DefaultTileSide
		}
	}
}

// check refuses options that cannot work, before anything is read.
func (o *Options) check() error {
	switch o.Partition {
	case "", PartitionGrid, PartitionQuadtree, PartitionKDTree:
	default:
		return fmt.Errorf("cook: partition %q is unknown: use grid, quadtree or kdtree", o.Partition)
	}
	if o.ContainerVersion == format.Version {
		o.ContainerVersion = 0 // the same
	}
	if o.ContainerVersion > format.MaxVersion {
		return fmt.Errorf("cook: container version %d cannot be written: use 1 to %d", o.ContainerVersion, format.MaxVersion)
	}
	o.EstimateLevels = o.EstimateLevels && o.DryRun
	if err := o.checkGrade(); err != nil {
		return err
	}
	if err := o.checkItems(); err != nil {
		return err
	}
	if o.Up != "" && o.Up != "y" && o.Up != "z" {
		return fmt.Errorf("cook: the axis upwards is %q; it must be y or z", o.Up)
	}
	if !(o.Metres >= 0 && o.Metres <= 1e6) {
		return fmt.Errorf("cook: a unit of %v metres is not between 0 and 1e6", o.Metres)
	}
	if err := o.Recenter.check(); err != nil {
		return err
	}
	o.fixTileSize()
	for i, v := range o.TileSize {
		if v == 0 && i != 1 {
			continue // follows from the scene
		}
		if !(v >= 1e-3 && v <= 1e9) {
			return fmt.Errorf("cook: tile size %v on axis %c is not between 0.001 and 1e9 metres", v, "xyz"[i])
		}
	}
	if !(o.SampleFraction >= 0 && o.SampleFraction <= 1) {
		return fmt.Errorf("cook: the sample fraction is %v; it must be between 0 and 1", o.SampleFraction)
	}
	switch {
	case o.TileTriangles < 0:
		return fmt.Errorf("cook: the triangles of a tile are %d; they must be 1 or more", o.TileTriangles)
	case o.WholeLimit < 0:
		return fmt.Errorf("cook: the limit of whole scenes is %d bytes; it must be 0 (off) or more", o.WholeLimit)
	case !(o.ViewDistance == 0 || o.ViewDistance >= leastViewDistance && o.ViewDistance <= math.MaxFloat32):
		return fmt.Errorf("cook: the view distance is %v m; it must be 0 (no limit) or at least %v", o.ViewDistance, leastViewDistance)
	}
	if o.PerimeterDepth < 0 {
		return fmt.Errorf("cook: the perimeter depth is %d; it must be 0 (all tiles) or more", o.PerimeterDepth)
	}
	if o.hasFloors() && (o.AutoTileSize || o.SampleFraction > 0 || o.PerimeterDepth > 0) {
		return fmt.Errorf("cook: an automatic tile size, samples and perimeters are for grids, not for a %s", o.Partition)
	}
	if o.Pyramid && o.Compat {
		return errors.New("cook: the reference exporter makes no pyramid; leave --pyramid or --compat engine out")
	}
	if err := o.checkLevels(); err != nil {
		return err
	}
	if err := o.checkTextures(); err != nil {
		return err
	}
	p := o.PayloadDir
	if strings.HasPrefix(journal.Fold(p), journal.Folder) {
		return fmt.Errorf("cook: payload folder %q has the name of the folder for a cook's state; choose another", p)
	}
	// The deepest names in it are those of textures.
	if journal.CheckPath(p) != nil || journal.CheckPath(path.Join(p, texture.Folder, "x")) != nil {
		return fmt.Errorf("cook: payload folder %q is not a plain relative path", p)
	}
	return nil
}

// ErrBadInput marks an error that lies in the scene, not in the machine.
var ErrBadInput = errors.New("bad input")

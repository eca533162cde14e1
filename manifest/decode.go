package manifest

import (
	"errors"
	"fmt"
	"io"

	"github.com/untoldkit/untold/finding"
	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/internal/jsonscan"
	"github.com/untoldkit/untold/internal/plainfile"
)

// Load reads the manifest at path. See Decode for what it accepts.
func Load(path string) (*Manifest, error) { return load(path, Decode) }

// LoadStreamed is Load without ObjectClassification: most of the text of a large scene,
// and nothing that streaming looks at.
func LoadStreamed(path string) (*Manifest, error) { return load(path, decodeStreamed) }

func load(path string, decode func([]byte) (*Manifest, error)) (*Manifest, error) {
	data, err := readFile(path)
	var long *DecodeError
	if errors.As(err, &long) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err != nil {
		return nil, err
	}
	m, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// readFile reads a whole file of at most MaxBytes.
func readFile(path string) ([]byte, error) {
	data, err := plainfile.Read(path, MaxBytes)
	var kind *plainfile.KindError
	switch {
	case err == nil:
		return data, nil
	case errors.As(err, &kind) && kind.Mode.IsDir():
		return nil, fmt.Errorf("manifest: %s is a folder: name the .json file in it", path)
	case errors.Is(err, plainfile.ErrTooLarge):
		return nil, tooLong()
	}
	return nil, fmt.Errorf("manifest: %w", err)
}

// tooLong is the error for texts of more than MaxBytes.
func tooLong() *DecodeError {
	return &DecodeError{
		Kind: ErrTooLarge, Offset: MaxBytes, Expected: fmt.Sprintf("at most %d bytes", MaxBytes), Found: "more",
		Hint: "is this a manifest? A scene that needs more goes into several, one per cook",
	}
}

// Read decodes a manifest from r, to its end. See Decode.
func Read(r io.Reader) (*Manifest, error) {
	// One byte more, so that a text that is too long is refused.
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("manifest: read: %w", err)
	}
	return Decode(data)
}

// Decode reads a manifest. Within MaxBytes and maxDepth it accepts what the
// reference engine's decoder accepts: a required key that is missing or null,
// and a wrong type of any key that the engine reads, is an error (a
// *DecodeError); unknown keys are ignored; a wrong type of a key that the
// engine ignores leaves its field absent; a tile whose bounds or center have
// fewer than three numbers is left out. It never panics, and the memory that
// it takes grows with the length of the text only. The manifest shares no
// memory with data.
func Decode(data []byte) (*Manifest, error) { return decoded(data, &scanner{}) }

// decodeStreamed is Decode without ObjectClassification, as LoadStreamed. What stands
// there need be no more than JSON.
func decodeStreamed(data []byte) (*Manifest, error) { return decoded(data, &scanner{streamed: true}) }

func decoded(data []byte, s *scanner) (*Manifest, error) {
	d := s.document(data)
	switch {
	case d.err == nil:
		return d.manifest, nil
	case IsPlan(data):
		return nil, errIsPlan()
	}
	return nil, d.err
}

// document is a decoded manifest and what is known about its text.
type document struct {
	manifest *Manifest
	err      error          // nil, or the reason why manifest is unusable
	errs     []*DecodeError // all errors of a collecting decode, in order
	notes    []finding.Finding
	dropped  int          // errors and notes that were too many to keep
	tiles    []tileOrigin // of manifest.Tiles
}

// tileOrigin is where a tile stands in the text: tiles that were left out make
// its index there differ from the one in Manifest.Tiles.
type tileOrigin struct {
	index  int
	offset int64
}

// decode reads a manifest. With collect it goes on after errors that leave the
// text readable.
func decode(data []byte, collect bool) *document {
	return (&scanner{collect: collect}).document(data)
}

func (s *scanner) document(data []byte) *document {
	s.data = data
	d := &document{manifest: &Manifest{}}
	if e := s.checkText(); e != nil {
		s.err = e
	} else {
		s.skipBOM()
		s.manifest(d)
		if !s.failed() && s.space() != 0 {
			s.syntax("the end of the file")
		}
		// space returns 0 for a NUL byte too.
		if !s.failed() && s.pos < len(data) {
			s.syntax("the end of the file")
		}
	}
	d.errs, d.notes, d.dropped = s.found, s.notes, s.dropped
	if s.err != nil {
		d.errs = append(d.errs, s.err)
	}
	fillLines(data, d.errs)
	if len(d.errs) > 0 {
		d.err = d.errs[0]
	}
	return d
}

// skipBOM skips the byte order mark that some editors write.
func (s *scanner) skipBOM() {
	if _, marked := bom.Cut(s.data); marked {
		s.pos = len(bom.UTF8)
	}
}

// checkText refuses what is no UTF-8 text of a sane size.
func (s *scanner) checkText() *DecodeError {
	if len(s.data) > MaxBytes {
		return tooLong()
	}
	pos := jsonscan.NotUTF8(s.data)
	if pos < 0 {
		return nil
	}
	return s.errorAt(ErrSyntax, pos, "UTF-8 text", s.describe(pos), "save the file as UTF-8")
}

// required reports the keys whose bits are missing in seen. start is the
// position of the object.
func (s *scanner) required(start int, seen uint32, keys ...string) {
	for i, key := range keys {
		if seen>>i&1 != 0 || s.failed() {
			continue
		}
		e := s.errorAt(ErrMissingKey, start, "the key \""+key+"\"", "no such key", "")
		e.Pointer += "/" + key
		s.problem(e)
	}
}

// once notes a key that occurs twice in its object.
func (s *scanner) once(seen *uint32, bit int) {
	if *seen>>bit&1 != 0 {
		s.note(codeDuplicateKey, int64(s.pos), "the key occurs twice; the last one is used")
	}
	*seen |= 1 << bit
}

// optional reads a key that the engine reads if it is present: null counts as
// absent, a wrong type is an error.
func optional[T any](s *scanner, dst **T, parse func(*scanner) T) {
	if *dst = nil; s.null() {
		return
	}
	v := parse(s)
	*dst = &v
}

// value is optional for fields whose zero value stands for absence.
func value[T any](s *scanner, dst *T, parse func(*scanner) T) {
	if s.null() {
		var zero T
		*dst = zero
		return
	}
	*dst = parse(s)
}

// loose reads a key that the engine ignores: a wrong type leaves the field
// zero and is noted.
func loose[T any](s *scanner, dst *T, parse func(*scanner) T) {
	notes, dropped := len(s.notes), s.dropped
	s.lenient++
	value(s, dst, parse)
	s.lenient--
	if len(s.notes) != notes || s.dropped != dropped {
		var zero T
		*dst = zero
	}
}

// pointerTo turns a parse function into one that returns a pointer.
func pointerTo[T any](parse func(*scanner) T) func(*scanner) *T {
	return func(s *scanner) *T {
		v := parse(s)
		return &v
	}
}

// maxEntries bounds lists whose entries may be far longer in memory than in
// the text, where {} is a light.
const maxEntries = 1 << 20

// list reads an array. The result is never nil, so that [] and null differ.
func list[T any](parse func(*scanner) T) func(*scanner) []T {
	return func(s *scanner) []T {
		out := []T{}
		if s.array("an array", "") {
			for i := -1; s.elem(&i); {
				out = append(out, parse(s))
			}
		}
		return out
	}
}

// short is list for at most maxEntries entries.
func short[T any](parse func(*scanner) T) func(*scanner) []T {
	return func(s *scanner) []T {
		n := 0
		return list(func(s *scanner) T {
			if n++; n > maxEntries && !s.failed() {
				s.err = s.errorAt(ErrTooLarge, s.pos, fmt.Sprintf("at most %d entries", maxEntries), "another one", "")
			}
			return parse(s)
		})(s)
	}
}

// Parse functions that many keys share.
var (
	parseFloatPtr  = pointerTo((*scanner).float)
	parseIntPtr    = pointerTo((*scanner).count)
	parseInt64Ptr  = pointerTo((*scanner).integer)
	parseStringPtr = pointerTo((*scanner).str)
	parseStrings   = list((*scanner).str)
	parseLevels    = list((*scanner).level)
)

// noteShort notes an array with too few numbers.
func (s *scanner) noteShort(what string, n int) {
	if !s.failed() {
		s.note(codeIgnoredValue, int64(s.pos), fmt.Sprintf("%s has %d numbers instead of 3 and is ignored", what, n))
	}
}

// manifest reads the top level.
func (s *scanner) manifest(d *document) {
	m := d.manifest
	s.space()
	start, seen := s.pos, uint32(0)
	if !s.object("an object", "is this a manifest?") {
		return
	}
	for first := true; s.key(&first); {
		switch string(s.name) {
		case "version":
			s.once(&seen, 0)
			m.Version = s.count()
		case "streaming_defaults":
			s.once(&seen, 1)
			m.StreamingDefaults = s.defaults()
		case "tiles":
			s.once(&seen, 2)
			s.tiles(d)
		case "partitioning_mode":
			value(s, &m.PartitioningMode, (*scanner).str)
		case "tile_size":
			optional(s, &m.TileSize, (*scanner).vec3Size)
		case "scene_lights":
			value(s, &m.SceneLights, short((*scanner).light))
		case "scene_cameras":
			value(s, &m.SceneCameras, short((*scanner).camera))
		case "colorLUT":
			optional(s, &m.ColorLUT, (*scanner).colorLUT)
		case "shared_bucket":
			value(s, &m.SharedBucket, (*scanner).sharedBucket)
		case "interior_zone":
			value(s, &m.InteriorZone, (*scanner).boundsPtr)
		default:
			s.manifestRest(m)
		}
	}
	s.required(start, seen, "version", "streaming_defaults", "tiles")
}

// manifestRest reads the top-level keys that the engine ignores.
func (s *scanner) manifestRest(m *Manifest) {
	switch string(s.name) {
	case "dry_run":
		loose(s, &m.DryRun, (*scanner).boolean)
	case "debug_aabb_only":
		loose(s, &m.DebugAABBOnly, (*scanner).boolean)
	case "source_scene_name":
		loose(s, &m.SourceSceneName, parseStringPtr)
	case "payload_dir_relative_to_manifest":
		loose(s, &m.PayloadDir, (*scanner).str)
	case "axis_convention":
		loose(s, &m.AxisConvention, plain[*AxisConvention])
	case "generator":
		loose(s, &m.Generator, (*scanner).str)
	case "units":
		loose(s, &m.Units, (*scanner).str)
	case "tile_size_mode":
		loose(s, &m.TileSizeMode, (*scanner).str)
	case "scene_bounds":
		loose(s, &m.SceneBounds, (*scanner).boundsPtr)
	case "origin_offset":
		loose(s, &m.OriginOffset, (*scanner).offset)
	case "content_bounds":
		loose(s, &m.ContentBounds, (*scanner).boundsPtr)
	case "colorGradeLUT":
		loose(s, &m.ColorGradeLUT, (*scanner).gradeLUT)
	case "textures":
		loose(s, &m.Textures, short(plain[Texture]))
	case "pyramid":
		loose(s, &m.Pyramid, (*scanner).pyramid)
		s.notes, s.remarks = append(s.notes, s.remarks...), nil
	case "streaming_profile":
		loose(s, &m.StreamingProfile, plain[*Profile])
	case "classification_config":
		loose(s, &m.ClassificationConfig, plain[*ClassificationConfig])
	case "partition_quality_config":
		loose(s, &m.PartitionQualityConfig, plain[*PartitionQualityConfig])
	case "hlod_generation":
		loose(s, &m.HLODGeneration, plain[*HLODGeneration])
	case "lod_generation":
		loose(s, &m.LODGeneration, plain[*LODGeneration])
	case "object_classification":
		if s.streamed {
			s.skip()
			return
		}
		loose(s, &m.ObjectClassification, (*scanner).classifications)
	case "failed_tiles":
		loose(s, &m.FailedTiles, short(plain[FailedTile]))
	default:
		s.skip()
	}
}

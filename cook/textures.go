package cook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/internal/texture"
	"github.com/untoldkit/untold/format"
)

// sourcesFolder keeps the images of a cook until they are resized or
// compressed; it is never committed.
const sourcesFolder = ".sources"

// smallSuffix ends the names of the textures that were made smaller for HLODs.
const smallSuffix = "_hlod"

// TextureMode says what becomes of the images of a scene.
type TextureMode = texture.Mode

// The texture modes. A new encoding begins at the constants of
// internal/texture.Mode; ParseTextureMode reads its name.
const (
	TexturesCopy   = texture.ModeCopy   // as they are, or converted where a loader could not read them
	TexturesResize = texture.ModeResize // those above a size are made smaller, as PNG or JPEG
	TexturesBC     = texture.ModeBC     // BC7 and BC5 with mip chains, as .utex
	TexturesASTC   = texture.ModeASTC   // ASTC with mip chains, as .utex
	TexturesKTX2   = texture.ModeKTX2   // UASTC of Basis Universal with mip chains, as .ktx2
)

// ASTCOptions say how TexturesASTC compresses, and how much TexturesBC tries. The zero value is
// the default.
type ASTCOptions = texture.ASTC

// ParseASTCBlock reads the size of blocks: 4x4, 5x5, 6x6, 8x8, or auto, which is
// 0 x 0.
func ParseASTCBlock(s string) ([2]int, error) {
	names := []string{"auto"}
	for _, b := range texture.ASTCBlocks {
		name := fmt.Sprintf("%dx%d", b[0], b[1])
		if name == s {
			return b, nil
		}
		names = append(names, name)
	}
	if s == "auto" {
		return [2]int{}, nil
	}
	return [2]int{}, fmt.Errorf("%q is unknown; use %s", s, strings.Join(names, ", "))
}

// ParseTextureMode reads the name of a mode: copy, resize, bc, astc or ktx2.
func ParseTextureMode(s string) (TextureMode, error) { return texture.ParseMode(s) }

// ErrDamagedImage is wrapped by the errors of Run and Convert for images whose
// file is damaged.
var ErrDamagedImage = texture.ErrDamaged

// TextureStage is the stage that Options.Progress is told while images are
// resized or compressed.
const TextureStage = "textures"

// DefaultMaxTexture is the longest side of resized textures without
// Options.MaxTexture, in pixels.
const DefaultMaxTexture = 2048

// maxTexture is the limit that counts; 0 is none.
func (o *Options) maxTexture() int {
	if o.MaxTexture == 0 && o.Textures == texture.ModeResize {
		return DefaultMaxTexture
	}
	return o.MaxTexture
}

// checkTextures refuses options that exclude each other.
func (o *Options) checkTextures() error {
	switch {
	case !o.Textures.Known():
		return fmt.Errorf("cook: texture mode %d is unknown", o.Textures)
	case o.ASTC.Block != [2]int{} && !slices.Contains(texture.ASTCBlocks, o.ASTC.Block):
		return fmt.Errorf("cook: blocks of %d x %d texels are not written; use 4 x 4, 5 x 5, 6 x 6 or 8 x 8", o.ASTC.Block[0], o.ASTC.Block[1])
	case o.ASTC.Block != [2]int{} && o.Textures != texture.ModeASTC:
		return errors.New("cook: the size of blocks goes with textures in ASTC")
	case o.ASTC.High && o.Textures != texture.ModeASTC && o.Textures != texture.ModeBC:
		return errors.New("cook: the quality goes with textures in ASTC or BC7")
	case o.MaxTexture < 0:
		return fmt.Errorf("cook: the texture size limit is %d pixels; it must be 1 or more", o.MaxTexture)
	case o.MaxTexture > 0 && o.Textures == texture.ModeCopy:
		return errors.New("cook: copied textures keep their size; a size limit goes with resized or compressed ones")
	}
	return nil
}

// textures are the images of a scene on their way into the output.
type textures struct {
	opts   *Options
	ns     *notes
	scene  *gltfscene.Scene
	dir    string          // where they go
	from   string          // where the staged images lie: dir, or a folder of their own
	roles  []texture.Roles // by Scene.Images, like all lists here
	sums   []sum           // hashes of the scene's images
	staged []texture.Staged
	small  []texture.Staged // for HLODs; nil without them
	// smallRoles are those of small: with atlases only blended materials have
	// textures of their own.
	smallRoles []texture.Roles
	shrunk     []texture.Staged // PNG and JPEG files in from that atlases are drawn from
	used       map[string]bool  // names of the files that stay, known when all is built
}

// newTextures converts and names the scene's images and, unless this is a dry
// run, cooks them. The files go below payloads. Call publish and prune when all is built.
func newTextures(ctx context.Context, s *gltfscene.Scene, payloads string, o *Options, ns *notes, results texture.Results) (*textures, error) {
	t := sceneTextures(s, o, ns)
	t.dir = filepath.Join(payloads, texture.Folder)
	t.from = t.dir
	if t.cooks() {
		t.from = filepath.Join(payloads, sourcesFolder)
	}
	if o.DryRun {
		t.dir, t.from = "", "" // nothing is written
	}
	if err := t.stage(ctx); err != nil {
		return nil, err
	}
	if o.DryRun {
		t.small = t.staged // and atlases are not made
		return t, nil
	}
	if t.cooks() {
		if err := t.cook(ctx, results); err != nil {
			return nil, err
		}
	}
	return t, t.shrink(ctx)
}

// sceneTextures returns the images of a scene of which nothing is known but what they are
// for.
func sceneTextures(s *gltfscene.Scene, o *Options, ns *notes) *textures {
	all := func(*gltfscene.Material) bool { return true }
	t := &textures{opts: o, ns: ns, scene: s, roles: textureRoles(s, all)}
	t.smallRoles = t.roles
	if o.HLODAtlas {
		t.smallRoles = textureRoles(s, func(m *gltfscene.Material) bool { return m.AlphaMode == gltfscene.AlphaBlend })
	}
	return t
}

// cooks reports whether images are resized or compressed.
func (t *textures) cooks() bool { return t.opts.Textures != texture.ModeCopy && !t.opts.DryRun }

// limits bounds the memory of the images at work: together a quarter of what
// the cook may have, 512 MiB at most; one alone may take half of it.
func (t *textures) limits() texture.Limits {
	m := t.opts.memory()
	return texture.Limits{Together: max(1, min(m/4, texture.DefaultMemory)), Each: max(1, m/2)}
}

// stage brings the images into the folder from.
func (t *textures) stage(ctx context.Context) error {
	s := t.scene
	sources := make([]texture.Source, len(s.Images))
	t.sums = make([]sum, len(s.Images))
	for i := range s.Images {
		im := &s.Images[i]
		sources[i] = texture.Source{
			Index: im.Index, Name: im.Name, URI: im.URI, Size: im.Size(), Bytes: im.Bytes, Optional: t.opts.AllowMissingImages, Sum: (*[32]byte)(&t.sums[i]),
			Normal: t.roles[i][texture.Normal].Use == texture.Normal,
		}
	}
	staged, err := texture.Stage(ctx, t.from, sources, t.limits(), t.opts.jobs())
	if err != nil {
		if errors.Is(err, texture.ErrDamaged) {
			return fmt.Errorf("%s: %w (repair or replace the image, or leave it out with Options.AllowMissingImages)", s.Source, err)
		}
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%s: %w", s.Source, err)
	}
	if err := t.opts.planned.sameImages(s, t.sums); err != nil {
		return err
	}
	t.staged = staged
	t.noteStaged()
	return nil
}

// noteStaged says what was left out and changed.
func (t *textures) noteStaged() {
	if lost := t.lost(texture.ErrFormat); lost != "" {
		t.ns.detail("texture-format-skipped", lost+"; give these textures a PNG, JPEG, WebP or KTX2 (Basis Universal) image")
	}
	if lost := t.lost(texture.ErrTooLarge); lost != "" {
		t.ns.detail("texture-too-large", lost)
	}
	if lost := t.lost(texture.ErrDamaged); lost != "" {
		t.ns.detail("texture-damaged-skipped", lost)
	}
	for i, r := range t.staged {
		if r.Err != nil {
			code := "texture-format-skipped"
			switch {
			case errors.Is(r.Err, texture.ErrDamaged):
				code = "texture-damaged-skipped"
			case errors.Is(r.Err, texture.ErrTooLarge):
				code = "texture-too-large"
			}
			t.ns.add(code, 1, i, fmt.Sprintf("%s: %v", t.place(i), r.Err))
		}
		if r.Change != "" {
			t.ns.add("texture-converted", 1, i, fmt.Sprintf("%s: %s", t.place(i), r.Change))
		}
	}
}

// hashed returns the files of the scene whose content is known, by their paths: those that
// hold an image, and those of a plan.
func (t *textures) hashed() map[string]source {
	out := map[string]source{}
	if p := t.opts.planned; p != nil {
		maps.Copy(out, p.files)
	}
	for i := range t.scene.Images {
		if path, stamp := t.scene.Images[i].External(); path != "" && t.sums[i] != (sum{}) {
			out[path] = source{Path: path, SHA256: t.sums[i].String(), Stamp: stamp}
		}
	}
	return out
}

// lost says what the materials lack because images of one kind are left out:
// which slots of how many materials.
func (t *textures) lost(kind error) string {
	var count [len(slotNames)]int
	materials := 0
	for i := range t.scene.Materials {
		any := false
		for k, slot := range slots(&t.scene.Materials[i]) {
			if slot.Image >= 0 && errors.Is(t.staged[slot.Image].Err, kind) {
				any = true
				count[k]++
			}
		}
		if any {
			materials++
		}
	}
	if materials == 0 {
		return ""
	}
	var list []string
	for k, n := range count {
		if n > 0 {
			list = append(list, fmt.Sprintf("%s (%d)", slotNames[k], n))
		}
	}
	plural := "s lack"
	if materials == 1 {
		plural = " lacks"
	}
	return fmt.Sprintf("%d material%s %s", materials, plural, strings.Join(list, ", "))
}

// slotNames are the names of what slots returns.
var slotNames = [5]string{"base colour", "normals", "metalness and roughness", "emission", "occlusion"}

// place names an image in notes.
func (t *textures) place(i int) string { return t.scene.Images[i].Place }

// cook resizes or compresses the images, for full detail and for HLODs.
func (t *textures) cook(ctx context.Context, results texture.Results) error {
	o := t.opts
	variants := []texture.Variant{{MaxSize: o.maxTexture()}}
	if len(o.HLODs) > 0 {
		small := o.HLODMaxTexture
		if m := o.maxTexture(); m > 0 {
			small = min(small, m)
		}
		variants = append(variants, texture.Variant{MaxSize: small, Suffix: smallSuffix, Only: t.smallRoles})
	}
	cooked, err := texture.Cook(ctx, t.from, t.dir, t.staged, t.roles, texture.Options{
		Mode: o.Textures, ASTC: o.ASTC, Variants: variants, Jobs: o.jobs(), Limits: t.limits(), Results: results,
		Progress: func(done, total int) { o.progress(TextureStage, done, total) },
	})
	if err != nil {
		return fmt.Errorf("%s: %w", t.scene.Source, err)
	}
	t.staged = cooked[0]
	if len(cooked) > 1 {
		t.small = cooked[1]
	}
	for i := range t.staged {
		if err := t.staged[i].Kept; err != nil {
			t.ns.add("texture-kept", 1, i, fmt.Sprintf("%s: %v", t.place(i), err))
		}
		if t.roles[i].Count() > 1 {
			t.ns.add("texture-two-roles", 1, i, t.place(i))
		}
	}
	return nil
}

// shrink makes small copies of the textures for HLODs and their atlases.
func (t *textures) shrink(ctx context.Context) error {
	o := t.opts
	if len(o.HLODs) == 0 || t.cooks() && !o.HLODAtlas {
		return nil
	}
	uses := make([]texture.Use, len(t.staged))
	plain := make([]texture.Staged, len(t.staged))
	for i := range uses {
		uses[i] = t.roles[i].Merged()
		plain[i] = t.staged[i]
		plain[i].Cooked = [len(plain[i].Cooked)]*texture.Cooked{}
	}
	var err error
	if t.shrunk, err = texture.Shrink(ctx, t.from, plain, uses, o.HLODMaxTexture, smallSuffix, t.limits(), o.jobs()); err != nil {
		return err
	}
	for i := range t.shrunk {
		if err := t.shrunk[i].Kept; err != nil && t.staged[i].Kept == nil {
			t.ns.add("texture-kept", 1, i, fmt.Sprintf("%s: %v", t.place(i), err))
		}
	}
	if !t.cooks() {
		t.small = t.shrunk
	}
	return nil
}

// atlasUses returns by what use the pictures are made smaller that atlases are drawn from,
// by the names of the staged files: images with the same content have one. It is nil
// without atlases.
func (t *textures) atlasUses() map[string]texture.Use {
	if !t.opts.HLODAtlas || t.shrunk == nil {
		return nil
	}
	out := map[string]texture.Use{}
	for i := range t.staged {
		out[t.staged[i].File] = max(out[t.staged[i].File], t.roles[i].Merged())
	}
	return out
}

// publish moves the images that serve as they are to the others.
func (t *textures) publish() error {
	if t.from == t.dir {
		return nil
	}
	if err := texture.Publish(t.from, t.dir, t.staged, t.roles); err != nil {
		return err
	}
	if err := texture.Publish(t.from, t.dir, t.small, t.smallRoles); err != nil {
		return err
	}
	return os.RemoveAll(t.from)
}

// prune removes the staged files that no container names, such as small copies
// for HLODs that were not made.
func (t *textures) prune(used map[string]bool) error {
	t.used = used
	if t.opts.DryRun {
		return nil
	}
	files, err := os.ReadDir(t.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cook: %w", err)
	}
	for _, f := range files {
		if !used[f.Name()] {
			if err := os.Remove(filepath.Join(t.dir, f.Name())); err != nil {
				return fmt.Errorf("cook: %w", err)
			}
		}
	}
	return nil
}

// texturesOf returns the names of a container's textures inside their folder.
func texturesOf(f *format.File) []string {
	var out []string
	for i := range f.Textures {
		uri, _, _ := bytes.Cut(f.Strings[f.Textures[i].URIOffset:], []byte{0})
		out = append(out, strings.TrimPrefix(string(uri), texture.Folder+"/"))
	}
	return out
}

// usedTextures returns the names of the textures of all containers.
func usedTextures(payloads []payload, nodes []node) map[string]bool {
	used := map[string]bool{}
	add := func(names []string) {
		for _, name := range names {
			used[name] = true
		}
	}
	for i := range payloads {
		add(payloads[i].textures)
		for k := range payloads[i].levels {
			add(payloads[i].levels[k].textures)
		}
	}
	for i := range nodes {
		add(nodes[i].textures)
	}
	return used
}

// files returns the names of an image's files in the output, without those for
// HLODs.
func (t *textures) files(i int) []*string {
	s := &t.staged[i]
	if s.File == "" {
		return nil
	}
	if t.from == t.dir {
		return []*string{&s.File}
	}
	var out []*string
	for _, r := range t.roles[i].List() {
		if c := s.Cooked[r.Use]; c != nil {
			out = append(out, &c.File)
		} else {
			out = append(out, &s.File)
		}
	}
	return out
}

// TextureTotals sums up the textures of a cook, each file once.
type TextureTotals struct {
	Mode  string `json:"mode"` // copy, resize, bc, astc or ktx2
	Files int    `json:"files"`
	Bytes int64  `json:"bytes"` // of the files
	// GPUBytes is what they take in video memory with all their levels.
	GPUBytes int64 `json:"gpu_bytes"`
	// Images, Pixels and SourceBytes are of the scene's distinct images.
	Images      int   `json:"images"`
	Pixels      int64 `json:"pixels"`
	SourceBytes int64 `json:"source_bytes"`
}

// totals counts the files, once prune knows them.
func (t *textures) totals() TextureTotals {
	out := TextureTotals{Mode: t.opts.Textures.String()}
	seen, sources := map[string]bool{}, map[string]bool{}
	for k, list := range [][]texture.Staged{t.staged, t.small} {
		roles := [][]texture.Roles{t.roles, t.smallRoles}[k]
		for i := range list {
			s := &list[i]
			if s.File != "" && k == 0 && !sources[s.File] {
				sources[s.File] = true
				out.Images++
				out.Pixels += int64(s.Width) * int64(s.Height)
				out.SourceBytes += s.Size
			}
			for _, c := range t.cookedOf(s, &roles[i]) {
				if t.used[c.File] && !seen[c.File] {
					seen[c.File] = true
					out.Files++
					out.Bytes += c.Size
					out.GPUBytes += c.GPU
				}
			}
		}
	}
	return out
}

// addAtlases counts the pictures that were made for HLODs.
func (t *TextureTotals) addAtlases(files int, bytes, gpu int64) {
	t.Files += files
	t.Bytes += bytes
	t.GPUBytes += gpu
}

// cookedOf returns the files of an image.
func (t *textures) cookedOf(s *texture.Staged, roles *texture.Roles) (out []texture.Cooked) {
	switch {
	case s.File == "":
	case t.from == t.dir:
		out = append(out, s.As(texture.Unused))
	default:
		for _, r := range roles.List() {
			out = append(out, s.As(r.Use))
		}
	}
	return out
}

// textureRoles collects what some of the materials ask of the images.
func textureRoles(s *gltfscene.Scene, which func(*gltfscene.Material) bool) []texture.Roles {
	roles := make([]texture.Roles, len(s.Images))
	for i := range s.Materials {
		m := &s.Materials[i]
		for k, t := range slots(m) {
			if t.Image < 0 || !which(m) {
				continue
			}
			r := texture.Role{Use: slotUses[k], Edges: [2]texture.Edge{edgeOf(t.WrapS), edgeOf(t.WrapT)}}
			if t == &m.BaseColorTex {
				r.Alpha, r.Cutoff = alphaOf(m)
			}
			roles[t.Image].Add(r)
		}
	}
	return roles
}

// slotUses are the uses of what slots returns.
var slotUses = [5]texture.Use{texture.Color, texture.Normal, texture.Data, texture.Color, texture.Data}

// alphaOf says what the alpha of a base colour texture means.
func alphaOf(m *gltfscene.Material) (texture.Alpha, float32) {
	switch m.AlphaMode {
	case gltfscene.AlphaMask:
		// The material's own alpha is a factor of what is compared.
		if m.BaseColor[3] > 0 {
			return texture.AlphaMasked, m.AlphaCutoff / m.BaseColor[3]
		}
		return texture.AlphaBlended, 0
	case gltfscene.AlphaBlend:
		return texture.AlphaBlended, 0
	}
	return texture.AlphaIgnored, 0
}

func edgeOf(w gltfscene.Wrap) texture.Edge {
	switch w {
	case gltfscene.WrapClamp:
		return texture.EdgeClamp
	case gltfscene.WrapMirror:
		return texture.EdgeMirror
	}
	return texture.EdgeRepeat
}

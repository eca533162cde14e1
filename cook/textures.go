package cook

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/cook/texture"
)

// stageTextures converts and names the scene's images below dir. The result is
// indexed like Scene.Images.
func stageTextures(ctx context.Context, s *gltfscene.Scene, dir string, o *Options, ns *notes) ([]texture.Staged, error) {
	sources := make([]texture.Source, len(s.Images))
	for i := range s.Images {
		im := &s.Images[i]
		sources[i] = texture.Source{Index: im.Index, Name: im.Name, URI: im.URI, Bytes: im.Bytes}
	}
	staged, err := texture.Stage(ctx, filepath.Join(dir, texture.Folder), sources, o.jobs())
	if err != nil {
		if errors.Is(err, texture.ErrDamaged) {
			return nil, fmt.Errorf("%s: %w (repair or replace the image)", s.Source, err)
		}
		if ctx.Err() != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", s.Source, err)
	}
	for i, t := range staged {
		where := fmt.Sprintf("images[%d]", s.Images[i].Index)
		if t.Err != nil {
			ns.add("texture-format-skipped", 1, i, fmt.Sprintf("%s: %v", where, t.Err))
		}
		if t.Change != "" {
			ns.add("texture-converted", 1, i, fmt.Sprintf("%s: %s", where, t.Change))
		}
	}
	return staged, nil
}

// smallSuffix ends the names of the textures that were made smaller for HLODs.
const smallSuffix = "_hlod"

// shrinkTextures makes small copies of the textures for HLODs.
func shrinkTextures(ctx context.Context, s *gltfscene.Scene, staged []texture.Staged, dir string, o *Options) ([]texture.Staged, error) {
	uses := make([]texture.Use, len(staged))
	for i := range s.Materials {
		m := &s.Materials[i]
		for _, t := range slots(m) {
			if t.Image < 0 {
				continue
			}
			use := texture.Data
			if t == &m.BaseColorTex || t == &m.EmissiveTex {
				use = texture.Color
			}
			uses[t.Image] = max(uses[t.Image], use)
		}
	}
	return texture.Shrink(ctx, filepath.Join(dir, texture.Folder), staged, uses, o.HLODMaxTexture, smallSuffix, o.jobs())
}

// textureBytes sums the staged files, each once.
func textureBytes(lists ...[]texture.Staged) (files int, bytes int64) {
	seen := map[string]bool{}
	for _, staged := range lists {
		for _, t := range staged {
			if t.File != "" && !seen[t.File] {
				seen[t.File] = true
				files++
				bytes += t.Size
			}
		}
	}
	return files, bytes
}

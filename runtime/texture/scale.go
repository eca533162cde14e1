package texture

import (
	"math"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
)

// Scales says how large textures are in the world: by the URI of a Slot, which
// part of the longest edge lies on a metre where the texture is stretched most,
// finite and at least 0; 0 where surfaces take single texels, as of a palette.
// The sizes of textures that are in it follow from what a picture shows of them
// instead of the parameters' radii, whatever mesh they are on.
type Scales map[string]float64

// ForScene returns how the textures of a scene are streamed: as AlignToManifest
// says, those that the manifest lists by what is seen of them, unless set differs
// from the defaults. A name of a profile alone stands for that profile.
func ForScene(set config.Textures, m *manifest.Manifest) (config.Textures, Scales, error) {
	standard := config.Default().Texture
	if set == standard {
		p, err := AlignToManifest(m.StreamingDefaults.StreamingRadius, m.StreamingDefaults.UnloadRadius)
		return p, scalesOf(m), err
	}
	if set.Profile != standard.Profile {
		name := set.Profile
		if set.Profile = standard.Profile; set == standard {
			p, err := ProfileNamed(name)
			return p, nil, err
		}
		set.Profile = name
	}
	return set, nil, validate(&set)
}

func scalesOf(m *manifest.Manifest) Scales {
	if len(m.Textures) == 0 {
		return nil
	}
	s := Scales{}
	for _, t := range m.Textures {
		if old, ok := s[t.URI]; t.UVPerMetre >= 0 && !math.IsInf(t.UVPerMetre, 1) && (!ok || t.UVPerMetre < old) {
			s[t.URI] = t.UVPerMetre
		}
	}
	return s
}

// The picture for which sizes are chosen when nothing else is said.
const (
	pictureLines = 1080
	pictureFovY  = 60
)

// PixelSize returns what a pixel covers at a distance of a metre, in metres, for
// View.Pixel: of a picture with a full vertical angle in (0, 180) degrees, else 60,
// of so many lines, at least 1, else 1080. Callers take at least
// config.Config.PictureHeight, for which detail is chosen too: a picture that is drawn
// smaller for a while needs no other textures.
func PixelSize(fovYDegrees, lines float64) float64 {
	if !(fovYDegrees > 0 && fovYDegrees < 180) {
		fovYDegrees = pictureFovY
	}
	if !(lines >= 1) || math.IsInf(lines, 1) {
		lines = pictureLines
	}
	return 2 * math.Tan(fovYDegrees*math.Pi/360) / lines
}

// reachOf returns the reach of a texture by its scale. A size is large enough from
// where its texels are no larger than pixels: there a renderer takes no finer
// level. It is there by then at the latest, so that the hysteresis lies beyond.
func (p *policy) reachOf(t *resource, pixel float64) reach {
	far := func(edge int) float64 {
		return min(1/(t.scale*pixel*float64(edge)), math.MaxFloat64)
	}
	h := p.Hysteresis
	beyond := math.MaxFloat64
	if h < 1 {
		beyond = (1 + h) / (1 - h)
	}
	r := reach{full: far(t.file.Edge(t.at[TierMedium])), medium: far(t.file.Edge(t.at[TierMinimum]))}
	r.fullIn, r.mediumIn = r.full, r.medium
	r.fullOut, r.mediumOut = min(r.full*beyond, math.MaxFloat64), min(r.medium*beyond, math.MaxFloat64)
	return r
}

package usd

import (
	"strings"

	"github.com/untoldkit/untold/cook/usd/internal/layer"
)

// loaded is a layer that was read.
type loaded struct {
	*layer.Layer
	source source
	number int
}

// stack is a layer with those below it, strongest first.
type stack struct{ layers []*loaded }

// stackOf reads a layer and its sublayers.
func (r *reader) stackOf(s source) (*stack, error) {
	key := s.String()
	if k := r.stacks[key]; k != nil {
		return k, nil
	}
	k := &stack{}
	if err := r.gather(k, s, nil); err != nil {
		return nil, err
	}
	r.stacks[key] = k
	return k, nil
}

func (r *reader) gather(k *stack, s source, above []string) error {
	key := s.String()
	for _, a := range above {
		if a == key {
			return malformed(key, "is a sublayer of itself: %s", strings.Join(append(above, key), " > "))
		}
	}
	if len(above) > maxSubDepth || len(k.layers) > maxArcs {
		return tooLarge(key, "has more than %d sublayers, or more than %d within each other", maxArcs, maxSubDepth)
	}
	l, err := r.layer(s)
	if err != nil {
		return err
	}
	k.layers = append(k.layers, l)
	for _, name := range l.SubLayers {
		if name == "" || r.foreign(name, key) {
			continue
		}
		below, err := r.resolve(s, name, key+": subLayers")
		if err == nil {
			err = r.gather(k, below, append(above[:len(above):len(above)], key))
		}
		if err != nil {
			if !r.optional(err) {
				return err
			}
			r.note("usd-layers-missing", true, key+": subLayers", missingLayers)
		}
	}
	return nil
}

// foreign reports whether a layer has a format that others read, such as MaterialX.
func (r *reader) foreign(name, where string) bool {
	name, _, _ = strings.Cut(name, ":SDF_FORMAT_ARGS:")
	if inner, ok := strings.CutSuffix(name, "]"); ok {
		name = inner[strings.LastIndexByte(inner, '[')+1:]
	}
	if isLayer(name) || isPackage(name) {
		return false
	}
	r.note("usd-formats-skipped", true, where, "layers of other formats, such as MaterialX and Alembic, were left out: "+clip(name))
	return true
}

const missingLayers = "layers that are missing were left out"

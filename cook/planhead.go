package cook

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/untoldkit/untold/cook/internal/planfile"
	"github.com/untoldkit/untold/internal/geom"
)

type boxOf = geom.Box

// planHead is what a plan was made with, and what belongs to no file of the scene.
type planHead struct {
	settings map[string]json.RawMessage // the options that count, by their names
	items    sum
	side     float64 // of tiles, where the scene decides about it, else 0: see partition.Plan
	pieces   []int64 // by object; nil where they cannot be many
	held     int64   // bytes that pieces take at a time
}

// mostSettings are the bytes that the settings of a plan take at most, as JSON.
const mostSettings = 1 << 20

// encoded returns the settings as they are written, or why no plan holds them.
func (h *planHead) encoded() ([]byte, error) {
	text, err := json.Marshal(h.settings) // in the order of the names
	if err == nil && len(text) > mostSettings {
		longest := slices.MaxFunc(slices.Sorted(maps.Keys(h.settings)), func(a, b string) int {
			return cmp.Compare(len(h.settings[a]), len(h.settings[b]))
		})
		err = fmt.Errorf("cook: the settings take %d bytes, and a plan holds %d of them: shorten %s, or cook without a plan", len(text), mostSettings, longest)
	}
	return text, err
}

func (h *planHead) code(c *planfile.Coder) {
	text, err := h.encoded()
	if err != nil {
		c.Fail("%v", err)
	}
	c.Bytes(&text)
	if len(text) > mostSettings {
		c.Fail("settings of %d bytes", len(text))
	}
	if c.Reading() && c.Err() == nil && json.Unmarshal(text, &h.settings) != nil {
		c.Fail("its settings cannot be read")
	}
	c.Sum((*[32]byte)(&h.items))
	side := []float64{h.side}
	if c.Floats(side); c.Reading() && side[0] < 0 {
		c.Fail("tiles of %v m", side[0])
	}
	h.side = side[0]
	planfile.List(c, &h.pieces, 1, func(_ int, n *int64) {
		// Objects of more are not cut, and then nothing depends on how many there are.
		pieces := int(min(*n, maxPolygons))
		c.Int(&pieces, 0, maxPolygons)
		*n = int64(pieces)
	})
	if c.Int64(&h.held); h.held < 0 || h.held > mostHeld {
		c.Fail("%d bytes of pieces", h.held)
	}
}

// mostHeld is more bytes than memory has for pieces, and little enough for sums of
// estimates.
const mostHeld = 1 << 40

// planSettings are the options that a plan depends on, or what is cooked by it, and the
// numbers of the code.
func (o *Options) planSettings() (map[string]json.RawMessage, error) {
	out := o.OutputOptions
	out.NoSync, out.Full, out.Verify, out.DryRun, out.Report = false, false, false, false, false
	in := o.InputOptions
	in.Items = nil // see planHead.items
	grade := ""
	if out.Grade != nil {
		grade, out.Grade = hashOf(out.Grade), nil
	}
	all := map[string]json.RawMessage{}
	for _, group := range []any{
		in, o.GridOptions, o.LevelOptions, o.TextureOptions, out,
		map[string]any{
			"Compat": o.Compat, "nodeTexels": o.nodeTexels, "Grade": grade,
			planVersion: []any{planStage, tileStage, nodeStage, o.Textures.Stages(), sceneStage},
		},
	} {
		text, err := json.Marshal(group)
		if err == nil {
			err = json.Unmarshal(text, &all)
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// planVersion is the name of the numbers of the code among settings.
const planVersion = "version"

// differences names the settings that are not the same, in the order of their names.
func differences(a, b map[string]json.RawMessage) (names []string) {
	all := maps.Clone(a)
	maps.Copy(all, b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if string(a[name]) != string(b[name]) {
			names = append(names, name)
		}
	}
	return names
}

// fits returns an error unless a plan was made with such settings.
func (h *planHead) fits(path string, now map[string]json.RawMessage) error {
	differ := differences(h.settings, now)
	if len(differ) == 0 {
		return nil
	}
	for _, name := range []string{"Generator", planVersion} {
		if slices.Contains(differ, name) {
			return stalePlan(path, fmt.Sprintf("it was made by another version, %s", clip(string(h.settings["Generator"]))))
		}
	}
	return stalePlan(path, "it was made with other settings: "+clip(strings.Join(differ, ", ")))
}

// clip keeps texts of files short.
func clip(s string) string {
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "..."
	}
	return s
}

// itemsSum hashes what a scene consists of and where that stands. Paths start at the
// folder of the scene.
func itemsSum(scene string, items []Item) (sum, error) {
	list := slices.Clone(items)
	for i := range list {
		list[i].File = relativeTo(scene, absolute(list[i : i+1])[0].File)
	}
	text, err := json.Marshal(list)
	d := newDigest()
	d.text(string(text))
	return d.sum(), err
}

func parseSum(text string) (out sum, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(out) {
		return out, false
	}
	return sum(b), true
}

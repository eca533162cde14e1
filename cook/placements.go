package cook

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/bom"
	"github.com/untoldkit/untold/internal/geom"
	"github.com/untoldkit/untold/internal/human"
	"github.com/untoldkit/untold/internal/plainfile"
)

// maxList is the longest placement list that is read, in bytes.
const maxList = 64 << 20

// isPlacementList reports whether a file is a list of files and where they stand: a .csv,
// or a .json that is an array or has the member "placements".
func isPlacementList(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".csv":
		return true
	case ".json":
		f, _, err := plainfile.Open(path)
		if err != nil {
			return false
		}
		defer f.Close()
		d := json.NewDecoder(io.LimitReader(f, maxList))
		first, err := d.Token()
		if err != nil {
			return false
		}
		if first != json.Delim('{') {
			return first == json.Delim('[')
		}
		for d.More() {
			key, err := d.Token()
			if err != nil || key == "placements" {
				return err == nil
			}
			if key == "asset" || d.Decode(new(json.RawMessage)) != nil {
				return false // a glTF file
			}
		}
	}
	return false
}

// Placements reads a placement list as Run does. The files of its items are paths.
func Placements(path string, opts *Options) ([]Item, error) {
	return readPlacements(path, opts.AllowParentPaths, opts.mostNodes())
}

// readPlacements reads a list of at most so many entries. Its files lie in its folder,
// unless parents permits others.
func readPlacements(path string, parents bool, most int64) ([]Item, error) {
	items, places, err := entriesOf(path, most)
	if err == nil {
		err = ofList(path, localize(items, places, filepath.Dir(path), parents))
	}
	if err != nil {
		return nil, err
	}
	return items, nil
}

// entriesOf reads a list, and what its entries are called in messages.
func entriesOf(path string, most int64) (items []Item, places []string, err error) {
	data, err := plainfile.Read(path, maxList)
	if errors.Is(err, plainfile.ErrTooLarge) {
		return nil, nil, &gltfscene.Error{
			File: path, Reason: fmt.Sprintf("is longer than the %s that a list may have", human.Bytes(maxList)),
			Hint: "divide it, and cook the parts into folders of their own", Err: gltfscene.ErrTooLarge,
		}
	}
	if err != nil {
		return nil, nil, &gltfscene.Error{File: path, Reason: "cannot be read: " + err.Error(), Err: errors.Join(gltfscene.ErrMissingFile, err)}
	}
	data = bom.Trim(data)
	if strings.EqualFold(filepath.Ext(path), ".csv") {
		items, places, err = parseCSV(data, most)
	} else {
		items, places, err = parseList(data, most)
	}
	if err == nil && len(items) == 0 {
		err = badList("", "places nothing")
	}
	return items, places, ofList(path, err)
}

// ofList puts the name of a list into an error about it.
func ofList(path string, err error) error {
	var e *gltfscene.Error
	if errors.As(err, &e) {
		c := *e
		c.File = path
		return &c
	}
	return err
}

func badList(place, format string, args ...any) *gltfscene.Error {
	return &gltfscene.Error{Place: place, Reason: fmt.Sprintf(format, args...), Err: gltfscene.ErrMalformed}
}

func longList(most int64) error {
	return &gltfscene.Error{
		Reason: fmt.Sprintf("has more than the %d entries that the memory carries", most),
		Hint:   "divide it, or cook where there is more memory", Err: gltfscene.ErrTooLarge,
	}
}

// localize judges items and makes their files paths.
func localize(items []Item, places []string, dir string, parents bool) error {
	var root *os.Root
	if !parents {
		var err error
		if root, err = os.OpenRoot(dir); err != nil {
			return &gltfscene.Error{Reason: "its folder cannot be read: " + err.Error(), Err: errors.Join(gltfscene.ErrMissingFile, err)}
		}
		defer root.Close()
	}
	known := map[string]string{}
	for i := range items {
		it := &items[i]
		if err := it.check(); err != nil {
			return badList(places[i], "%v", err)
		}
		if at, ok := known[it.File]; ok {
			it.File = at
			continue
		}
		local := filepath.FromSlash(strings.ReplaceAll(it.File, `\`, "/"))
		switch {
		case strings.Contains(it.File, "://"):
			return &gltfscene.Error{
				Place: places[i], Reason: fmt.Sprintf("file %q is an address", it.File),
				Hint: "download it into the list's folder, and name it there", Err: gltfscene.ErrUnsupported,
			}
		case !parents && !filepath.IsLocal(local):
			return &gltfscene.Error{
				Place: places[i], Reason: fmt.Sprintf("file %q leads out of the list's folder", it.File),
				Hint: "Options.AllowParentPaths permits it for files that you trust", Err: gltfscene.ErrOutsideFolder,
			}
		case IsListName(local):
			return badList(places[i], "file %q is a list itself", it.File)
		}
		if root != nil {
			if err := within(root, dir, local); err != nil {
				return err
			}
		}
		at := local
		if !filepath.IsAbs(local) {
			at = filepath.Join(dir, local)
		}
		known[it.File] = at
		it.File = at
	}
	return nil
}

// IsListName reports whether the end of a name is one of lists.
func IsListName(name string) bool {
	ext := strings.ToLower(filepath.Ext(name))
	return ext == ".csv" || ext == ".json"
}

// listItem is an entry of a list in JSON.
type listItem struct {
	File     string          `json:"file"`
	Name     string          `json:"name"`
	Position []float64       `json:"position"`
	Rotation json.RawMessage `json:"rotation"`
	Scale    json.RawMessage `json:"scale"`
	Extras   json.RawMessage `json:"extras"`
}

// parseList reads an array of entries, or an object that has it as "placements".
func parseList(data []byte, most int64) (items []Item, places []string, err error) {
	list := data
	if text := bytes.TrimLeft(data, " \t\r\n"); len(text) > 0 && text[0] == '{' {
		var top struct {
			Placements json.RawMessage `json:"placements"`
		}
		if err := json.Unmarshal(data, &top); err != nil {
			return nil, nil, jsonFault(data, err)
		}
		if list = top.Placements; list == nil {
			return nil, nil, badList("", `is no placement list: it has no "placements"`)
		}
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(list, &raw); err != nil {
		return nil, nil, jsonFault(data, err)
	}
	if int64(len(raw)) > most {
		return nil, nil, longList(most)
	}
	for i, text := range raw {
		place := fmt.Sprintf("placements[%d]", i)
		var l listItem
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			return nil, nil, badList(place, "%s", strings.TrimPrefix(err.Error(), "json: "))
		}
		it := Item{File: l.File, Name: l.Name}
		if len(l.Extras) > 0 && string(l.Extras) != "null" {
			it.Extras = l.Extras
		}
		if l.Position != nil {
			if len(l.Position) != 3 {
				return nil, nil, badList(place+".position", "has %d numbers, it needs 3", len(l.Position))
			}
			it.Position = geom.Vec3(l.Position)
		}
		rotation, err := numbers(l.Rotation)
		if err == nil {
			it.Rotation, err = rotationOf(rotation)
		}
		if err != nil {
			return nil, nil, badList(place+".rotation", "%v", err)
		}
		scale, err := numbers(l.Scale)
		switch {
		case err != nil:
			return nil, nil, badList(place+".scale", "%v", err)
		case len(scale) == 1:
			it.Scale = geom.Vec3{scale[0], scale[0], scale[0]}
		case len(scale) == 3:
			it.Scale = geom.Vec3(scale)
		case scale != nil:
			return nil, nil, badList(place+".scale", "has %d numbers, it needs 1 or 3", len(scale))
		}
		if scale != nil && it.Scale == (geom.Vec3{}) {
			return nil, nil, badList(place+".scale", "is 0")
		}
		items, places = append(items, it), append(places, place)
	}
	return items, places, nil
}

// jsonFault places an error of the syntax.
func jsonFault(data []byte, err error) error {
	var s *json.SyntaxError
	if errors.As(err, &s) {
		line := 1 + bytes.Count(data[:min(int(s.Offset), len(data))], []byte{'\n'})
		return badList(fmt.Sprintf("line %d", line), "the JSON is invalid: %v", s)
	}
	return badList("", "is no list: it must be an array of entries, or an object with the array \"placements\"")
}

// numbers reads a number or an array of them; nil for nothing.
func numbers(text json.RawMessage) ([]float64, error) {
	if len(text) == 0 || string(text) == "null" {
		return nil, nil
	}
	var one float64
	if json.Unmarshal(text, &one) == nil {
		return []float64{one}, nil
	}
	var list []float64
	if json.Unmarshal(text, &list) != nil {
		return nil, errors.New("is neither a number nor an array of numbers")
	}
	return list, nil
}

// rotationOf returns the quaternion of one angle about the vertical, of three about x,
// then y, then z, all in degrees, or of a quaternion x, y, z, w.
func rotationOf(v []float64) (q [4]float64, err error) {
	switch len(v) {
	case 0:
		return q, nil
	case 1:
		return turnAbout(1, v[0]), nil
	case 3:
		return product(turnAbout(2, v[2]), product(turnAbout(1, v[1]), turnAbout(0, v[0]))), nil
	case 4:
		if n := [4]float64(v); n != [4]float64{} {
			return n, nil
		}
		return q, errors.New("is a quaternion of length 0")
	}
	return q, fmt.Errorf("has %d numbers, it needs 1 (degrees about the vertical), 3 (degrees about x, y and z) or 4 (a quaternion)", len(v))
}

// turnAbout is a turn about an axis, in degrees.
func turnAbout(axis int, degrees float64) (q [4]float64) {
	if !(math.Abs(degrees) <= 1e9) {
		return [4]float64{math.Inf(1)} // refused as out of range
	}
	sin, cos := geom.Sincos(degrees * (math.Pi / 360))
	q[axis], q[3] = sin, cos
	return q
}

// product turns by b, then by a.
func product(a, b [4]float64) [4]float64 {
	p := func(i, j int) float64 { return float64(a[i] * b[j]) }
	return [4]float64{
		p(3, 0) + p(0, 3) + p(1, 2) - p(2, 1),
		p(3, 1) - p(0, 2) + p(1, 3) + p(2, 0),
		p(3, 2) + p(0, 1) - p(1, 0) + p(2, 3),
		p(3, 3) - p(0, 0) - p(1, 1) - p(2, 2),
	}
}

// csvColumns are the columns of a list that mean something; others become extras.
var csvColumns = []string{"file", "name", "x", "y", "z", "yaw", "rx", "ry", "rz", "qx", "qy", "qz", "qw", "scale", "sx", "sy", "sz", "extras"}

// parseCSV reads a list with a line of column names.
func parseCSV(data []byte, most int64) (items []Item, places []string, err error) {
	r := csv.NewReader(bytes.NewReader(data))
	r.ReuseRecord, r.TrimLeadingSpace = true, true
	if first, _, _ := bytes.Cut(data, []byte{'\n'}); bytes.Count(first, []byte{';'}) > bytes.Count(first, []byte{','}) {
		r.Comma = ';' // as spreadsheets write where the comma is the decimal point
	}
	head, err := r.Read()
	if err != nil {
		return nil, nil, badList("line 1", "has no line of column names: %v", err)
	}
	columns := slices.Clone(head)
	at := map[string]int{}
	for i := range columns {
		columns[i] = strings.TrimSpace(columns[i])
		name := columns[i]
		if lower := strings.ToLower(name); slices.Contains(csvColumns, lower) {
			name = lower
		}
		if _, twice := at[name]; twice {
			return nil, nil, badList("line 1", "column %q stands there twice", name)
		}
		at[name] = i
	}
	if _, ok := at["file"]; !ok {
		return nil, nil, badList("line 1", "there is no column \"file\"; the columns are %s, and others become extras", strings.Join(csvColumns, ", "))
	}
	for {
		record, err := r.Read()
		if err == io.EOF {
			return items, places, nil
		}
		if err != nil {
			return nil, nil, badList("", "%v", err)
		}
		if int64(len(items)) == most {
			return nil, nil, longList(most)
		}
		line, _ := r.FieldPos(0)
		place := fmt.Sprintf("line %d", line)
		row := csvRow{at: at, record: record}
		it, err := row.item(columns)
		if err != nil {
			return nil, nil, badList(place, "%v", err)
		}
		items, places = append(items, it), append(places, place)
	}
}

// csvRow is a line of a list.
type csvRow struct {
	at     map[string]int
	record []string
	err    error
}

func (r *csvRow) text(name string) string {
	if i, ok := r.at[name]; ok {
		return strings.TrimSpace(r.record[i])
	}
	return ""
}

// number returns a value; what is not there, or empty, is otherwise.
func (r *csvRow) number(name string, otherwise float64) float64 {
	text := r.text(name)
	if text == "" {
		return otherwise
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v-v != 0 {
		if r.err == nil {
			r.err = fmt.Errorf("%s is %q, which is no number", name, text)
		}
		return otherwise
	}
	return v
}

// some reports whether one of the columns has a value.
func (r *csvRow) some(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return r.text(n) != "" })
}

func (r *csvRow) item(columns []string) (it Item, err error) {
	it = Item{File: r.text("file"), Name: r.text("name"), Position: geom.Vec3{r.number("x", 0), r.number("y", 0), r.number("z", 0)}}
	kinds := 0
	var rotation []float64
	if r.some("yaw") {
		rotation, kinds = []float64{r.number("yaw", 0)}, kinds+1
	}
	if r.some("rx", "ry", "rz") {
		rotation, kinds = []float64{r.number("rx", 0), r.number("ry", 0), r.number("rz", 0)}, kinds+1
	}
	if r.some("qx", "qy", "qz", "qw") {
		rotation, kinds = []float64{r.number("qx", 0), r.number("qy", 0), r.number("qz", 0), r.number("qw", 0)}, kinds+1
	}
	if kinds > 1 {
		return it, errors.New("gives more than one of yaw, of rx, ry, rz, and of qx, qy, qz, qw")
	}
	if it.Rotation, err = rotationOf(rotation); err != nil {
		return it, err
	}
	if r.some("scale", "sx", "sy", "sz") {
		all := r.number("scale", 1)
		it.Scale = geom.Vec3{all * r.number("sx", 1), all * r.number("sy", 1), all * r.number("sz", 1)}
		if it.Scale == (geom.Vec3{}) {
			return it, errors.New("the scale is 0")
		}
	}
	if r.err != nil {
		return it, r.err
	}
	it.Extras, err = r.extras(columns)
	return it, err
}

// extras are the members of the column of that name, and columns without a meaning.
func (r *csvRow) extras(columns []string) (json.RawMessage, error) {
	out := map[string]any{} // encoding/json sorts the names
	if text := r.text("extras"); text != "" {
		if json.Unmarshal([]byte(text), &out) != nil {
			return nil, errors.New("extras is no JSON object")
		}
	}
	for _, name := range columns {
		if slices.Contains(csvColumns, strings.ToLower(name)) || name == "" {
			continue
		}
		text := r.text(name)
		if text == "" {
			continue
		}
		if v, err := strconv.ParseFloat(text, 64); err == nil && v-v == 0 && json.Valid([]byte(text)) {
			out[name] = json.Number(text)
		} else {
			out[name] = text
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	text, err := json.Marshal(out)
	return text, err
}

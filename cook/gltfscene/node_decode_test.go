package gltfscene

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/qmuntal/gltf"
)

// FuzzDecodeNode holds decodeNode against encoding/json.
func FuzzDecodeNode(f *testing.F) {
	for _, text := range []string{
		`{}`,
		`{"name":"a\u00e9\ud800\n","mesh":3.0,"camera":1e1,"skin":0,"children":[1,2.0,3]}`,
		`{"matrix":[1,0,0,0,0,1,0,0,0,0,1,0,1e-3,-2.5E2,0.1,1],"children":[],"name":""}`,
		`{"rotation":[0,0,0,-0],"scale":[1,2,3],"translation":[0.1,-1e-400,12345678901234567890],"weights":[1]}`,
		`{"name":null,"mesh":null,"children":null,"scale":null,"extras":{"mesh":1},"extensions":{"A":[{}]}}`,
		`{"na\u006de":"b","scal\u0065":[1,1,1],"other":"x"}`,
		`{"Mesh":1}`, `{"mesh":1,"mesh":2}`, `{"scale":[1,1]}`, `{"scale":[1,null,1]}`, `{"translation":[1e999,0,0]}`, `[]`,
		"{\"name\":\"\xff\"}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		if !json.Valid(raw) {
			return
		}
		raw = trimSpace(raw)
		var got, want gltf.Node
		err, wantErr := decodeNode(raw, &got), nodeSchema.decode(raw, &want)
		if wantErr != nil {
			if err == nil {
				t.Fatalf("%s: want an error: %v", raw, wantErr)
			}
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		want.Extensions, want.Extras = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", raw, got, want)
		}
	})
}

// trimSpace leaves what a table holds of an element: the value alone.
func trimSpace(raw []byte) []byte {
	var v json.RawMessage
	if json.Unmarshal(raw, &v) != nil {
		return raw
	}
	return v
}

package meshopt

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// referenceScript decodes streams by meshoptimizer and says what its own encoder
// makes of the same data.
const referenceScript = `
import { MeshoptDecoder as D, MeshoptEncoder as E } from 'meshoptimizer';
import { readFileSync } from 'node:fs';
await D.ready; await E.ready;
const out = JSON.parse(readFileSync(0)).map(c => {
  const data = Buffer.from(c.Data, 'base64'), got = new Uint8Array(c.Count * c.Stride);
  D.decodeGltfBuffer(got, c.Count, c.Stride, new Uint8Array(Buffer.from(c.Stream, 'base64')), c.Mode, 'NONE');
  const theirs = E.encodeGltfBuffer(new Uint8Array(data), c.Count, c.Stride, c.Mode, c.Version);
  return { Got: Buffer.from(got).toString('base64'), Theirs: theirs.length };
});
console.log(JSON.stringify(out));
`

// TestReferenceDecoder hands our streams to meshoptimizer's decoder, and compares their
// sizes with those of its encoder. It needs node, and UNTOLD_MESHOPT, the folder in which
// `npm install meshoptimizer` was run.
func TestReferenceDecoder(t *testing.T) {
	dir := os.Getenv("UNTOLD_MESHOPT")
	if dir == "" {
		t.Skip("UNTOLD_MESHOPT does not name a folder with meshoptimizer")
	}
	type stream struct {
		Mode                   string
		Count, Stride, Version int
		Data, Stream           []byte
	}
	var list []stream
	add := func(l Layout, data []byte, version int) {
		src, err := Encode(nil, data, l, version)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, stream{l.Mode.String(), l.Count, l.Stride, version, data, src})
	}
	for version := range 2 {
		for _, n := range []int{1, 7, 90} {
			s := sheet(n)
			add(Layout{Mode: Triangles, Count: len(s), Stride: 4}, indexBytes(s, 4), version)
			slices.Reverse(s)
			add(Layout{Mode: Triangles, Count: len(s), Stride: 2}, indexBytes(s, 2), version)
			for _, stride := range []int{4, 8, 12, 20} {
				var data []byte
				for i := range n * n {
					for k := range stride / 4 {
						data = binary.LittleEndian.AppendUint32(data, uint32(i*i*k+i%n*300<<(8*k)))
					}
				}
				add(Layout{Count: n * n, Stride: stride}, data, version)
			}
		}
	}
	input, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "reference.mjs")
	if err := os.WriteFile(script, []byte(referenceScript), 0o666); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(script)
	cmd := exec.Command("node", script)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var answers []struct {
		Got    string
		Theirs int
	}
	if err := json.Unmarshal(output, &answers); err != nil {
		t.Fatal(err)
	}
	ours, theirs := 0, 0
	for i, a := range answers {
		s := list[i]
		got, err := base64.StdEncoding.DecodeString(a.Got)
		if err != nil {
			t.Fatal(err)
		}
		same := bytes.Equal(got, s.Data)
		if s.Mode == "TRIANGLES" {
			same = slices.Equal(canonical(indexList(got, s.Stride)), canonical(indexList(s.Data, s.Stride)))
		}
		if !same {
			t.Errorf("stream %d, %s of %d x %d, version %d, decodes to something else", i, s.Mode, s.Count, s.Stride, s.Version)
		}
		t.Logf("%-10s %5d x %2d version %d: ours %6d bytes, theirs %6d", s.Mode, s.Count, s.Stride, s.Version, len(s.Stream), a.Theirs)
		ours, theirs = ours+len(s.Stream), theirs+a.Theirs
	}
	if ours > theirs*102/100 {
		t.Errorf("%d bytes, those of the reference have %d", ours, theirs)
	}
}

package meshfile

import (
	"context"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/cook/gltfscene"
	"github.com/untoldkit/untold/internal/fuzzbound"
)

// check verifies what must hold for any bytes: a scene whose geometry can be read, or an
// error of a known kind in one line.
func check(t *testing.T, data []byte, format Format, beside memoryFiles) {
	fuzzbound.Run(t, len(data), fuzzbound.Limits{Time: 20 * time.Second, Alloc: 64 << 20, PerByte: 2048}, func() {
		made, err := parse(data, format, beside, Options{Memory: 8 << 20, AllowMissing: true, piece: 64})
		if err != nil {
			var e *gltfscene.Error
			if !errors.As(err, &e) || e.Reason == "" || strings.ContainsAny(err.Error(), "\n\r\x00") {
				t.Fatalf("bad error: %#v", err)
			}
			return
		}
		defer made.Close()
		var bin []byte
		if made.Size > 0 {
			bin = make([]byte, made.Size)
			if _, err := made.Buffer.ReadAt(bin, 0); err != nil {
				t.Fatal(err)
			}
		}
		// The document and its buffer as a GLB.
		text := append([]byte{}, made.JSON...)
		for len(text)%4 > 0 {
			text = append(text, ' ')
		}
		file := binary.LittleEndian.AppendUint32([]byte("glTF\x02\x00\x00\x00"), uint32(20+len(text)+8+len(bin)))
		file = append(append(binary.LittleEndian.AppendUint32(file, uint32(len(text))), "JSON"...), text...)
		file = append(append(binary.LittleEndian.AppendUint32(file, uint32(len(bin))), "BIN\x00"...), bin...)
		if _, err := gltfscene.LoadBytes(context.Background(), "x.glb", file, gltfscene.Options{Scene: -1, AllowMissingImages: true, Jobs: 1}); err != nil {
			t.Fatalf("what was made does not load: %v\n%s", err, made.JSON)
		}
	})
}

func FuzzOBJ(f *testing.F) {
	for _, s := range []string{
		square + "f 1 2 3 4\n", "mtllib a.mtl\n" + square + "vt 0 0\nvn 0 0 1\no a\ng b\nusemtl m\ns 1\nf -4/1/1 -3/1/1 -2/1/1 -1//1\nl 1 2\n",
		"v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1e3 0 0 0 1\nf 1 2 \\\n3\ns off\nf 3 2 1\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, data, OBJ, memoryFiles{"a.mtl": "newmtl m\nKd 1 0 0\nmap_Kd -s 2 2 wood.png\n", "wood.png": picture})
	})
}

func FuzzMTL(f *testing.F) {
	for _, s := range []string{
		"newmtl m\nKd 1 0 0\nKe 2 0 0\nd 0.5\nNs 10\nKs 1\nmap_Kd -o 1 -s 2 3 -clamp on wood.png\n",
		"newmtl m\nmap_Pr wood.png\nmap_Pm wood.png\nnorm wood.png\nmap_d wood.png\nmap_Kd C:\\a\\wood.png\nPm 1\nTr 0.1\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		check(t, []byte("mtllib a.mtl\n"+square+"usemtl m\nf 1 2 3 4\n"), OBJ, memoryFiles{"a.mtl": string(data), "wood.png": picture})
	})
}

func FuzzPLY(f *testing.F) {
	f.Add([]byte(binarySquare(binary.LittleEndian, "binary_little_endian")))
	f.Add([]byte(binarySquare(binary.BigEndian, "binary_big_endian")))
	f.Add([]byte("ply\nformat ascii 1.0\ncomment TextureFile wood.png\n" + plySquare + "element face 1\nproperty list uchar int vertex_indices\n" +
		"property list uchar float texcoord\nproperty uchar red\nproperty uchar green\nproperty uchar blue\nend_header\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2 6 0 0 1 0 1 1 255 0 0\n"))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data, PLY, nil) })
}

func FuzzSTL(f *testing.F) {
	f.Add([]byte(textSTL))
	f.Add([]byte(binarySTL("x COLOR=\xff\xff\xff\xff", 31, 0x8000)))
	f.Fuzz(func(t *testing.T, data []byte) { check(t, data, STL, nil) })
}

package gltfscene

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/untoldkit/untold/internal/fuzzbound"
	"github.com/untoldkit/untold/internal/testfile"
)

// FuzzURI lets a buffer and a picture name any address. What is read lies in
// the scene's folder, also when links lead out of it.
func FuzzURI(f *testing.F) {
	for _, s := range []string{
		"a.bin", "./a.bin", "sub/../a.bin", "a%2ebin", "sub%2Fb.bin", "..\\secret.bin", "../secret.bin", "%2e%2e/secret.bin", "..%2fsecret.bin",
		"%252e%252e/secret.bin", "/etc/passwd", "C:\\x", "c:x", "//host/share/x", `\\host\share`, "file:///etc/passwd", "FILE:x", "http://h/x", "x:y", ":", "",
		"link", "out/secret.bin", "sub/up/secret.bin", "a.bin\x00", "a.bin?x=1", "a.bin#f", "%zz", "sub", ".", "..", "...", "a.bin/.", "a.bin/", "con", "a.bin::$DATA",
		"data:application/octet-stream;base64,AAAAAAAAAAAAAAAA", "data:,%00%01", "DATA:;base64,A", "data:;base64", "data:x;base64,====", "data:;base64,AAA A", "data:text/plain,%",
		strings.Repeat("../", 300) + "etc/passwd", strings.Repeat("a", 5000), "\xff\xfe", "sub/\u202e.bin",
	} {
		f.Add(s)
	}
	top := f.TempDir()
	dir := filepath.Join(top, "scene")
	secret := bytes.Repeat([]byte("secret"), 6)
	for name, data := range map[string][]byte{"secret.bin": secret, "scene/a.bin": floatBytes(triangle()...), "scene/sub/b.bin": floatBytes(triangle()...)} {
		testfile.Write(f, filepath.Join(top, filepath.FromSlash(name)), data)
	}
	for name, to := range map[string]string{"link": "../secret.bin", "out": "..", "sub/up": "../.."} {
		_ = os.Symlink(to, filepath.Join(dir, filepath.FromSlash(name))) // some systems have none
	}
	f.Fuzz(func(t *testing.T, uri string) {
		checkNames(t, uri)
		if isDataURI([]byte(uri)) {
			if b, err := decodeDataURI([]byte(uri)); err == nil && len(b) > len(uri) {
				t.Fatalf("%d bytes of an address of %d", len(b), len(uri))
			}
		}
		doc, err := json.Marshal(object{
			"asset":   object{"version": "2.0"},
			"buffers": []any{object{"uri": uri, "byteLength": 36}}, "bufferViews": []any{object{"buffer": 0, "byteLength": 36}},
			"accessors": []any{object{"bufferView": 0, "componentType": f32, "count": 3, "type": "VEC3", "min": []int{0, 0, 0}, "max": []int{1, 1, 1}}},
			"images":    []any{object{"uri": uri}}, "textures": []any{object{"source": 0}},
			"materials": []any{object{"pbrMetallicRoughness": object{"baseColorTexture": object{"index": 0}}}},
			"meshes":    []any{object{"primitives": []any{object{"material": 0, "attributes": object{"POSITION": 0}}}}},
			"nodes":     []any{object{"mesh": 0}}, "scenes": []any{object{"nodes": []int{0}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "x.gltf")
		// The file lies in the folder by a name of its own, so that workers do
		// not meet.
		file = filepath.Join(dir, filepath.Base(filepath.Dir(filepath.Dir(file)))+"-"+filepath.Base(filepath.Dir(file))+".gltf")
		testfile.Write(t, file, doc)
		defer os.Remove(file)
		fuzzbound.Run(t, len(uri), fuzzbound.Limits{Alloc: 4 << 20, PerByte: 200}, func() {
			o := fuzzOptions
			o.AllowMissingImages = true
			s, err := Load(context.Background(), file, o)
			if err != nil {
				if text := err.Error(); strings.ContainsAny(text, "\n\r\x00") || len(text) > 4000 || strings.Contains(text, "secretsecret") {
					t.Fatalf("bad text %q", text)
				}
				return
			}
			for i := range s.Images {
				if b, err := s.Images[i].Bytes(); err == nil && bytes.Contains(b, secret[:12]) {
					t.Fatalf("%q leads out of the folder", uri)
				}
			}
			for _, m := range s.Meshes {
				for _, p := range m.Primitives {
					for _, v := range p.Positions {
						if bytes.Contains(floatBytes(v[:]...), secret[:12]) {
							t.Fatalf("%q leads out of the folder", uri)
						}
					}
				}
			}
		})
	})
}

// checkNames holds the names that an address may stand for against the rules.
func checkNames(t *testing.T, uri string) {
	t.Helper()
	names, err := localNames(uri, false)
	if err != nil {
		return
	}
	if len(names) == 0 || len(names) > 2 {
		t.Fatalf("%q stands for %q", uri, names)
	}
	for _, n := range names {
		if n != path.Clean(n) || path.IsAbs(n) || n == ".." || strings.HasPrefix(n, "../") || strings.ContainsAny(n, "\\\x00") {
			t.Fatalf("%q stands for %q", uri, n)
		}
	}
}

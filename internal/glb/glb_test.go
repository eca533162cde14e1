package glb

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func text(s string) part {
	return part{int64(len(s)), func(w io.Writer) error { _, err := io.WriteString(w, s); return err }}
}

func TestWrite(t *testing.T) {
	for _, c := range []struct{ text, bin, want string }{
		{`{"a":1}`, "12345678", "glTF\x02\x00\x00\x00\x2c\x00\x00\x00" + "\x08\x00\x00\x00JSON" + `{"a":1} ` + "\x08\x00\x00\x00BIN\x00" + "12345678"},
		{`{"ab":1}`, "", "glTF\x02\x00\x00\x00\x1c\x00\x00\x00" + "\x08\x00\x00\x00JSON" + `{"ab":1}`},
	} {
		var b bytes.Buffer
		if err := write(&b, text(c.text), text(c.bin)); err != nil || b.String() != c.want || size(text(c.text), text(c.bin)) != int64(b.Len()) {
			t.Errorf("%q %v", b.String(), err)
		}
	}
}

// TestSpill drives a spool over its memory limit and reads it back.
func TestSpill(t *testing.T) {
	s := spool{dir: t.TempDir()}
	var want bytes.Buffer
	block := make([]byte, 1<<20)
	for i := range 10 {
		block[0], block[len(block)-1] = byte(i), byte(i*7)
		for _, w := range []interface{ Write([]byte) (int, error) }{&s, &want} {
			if _, err := w.Write(block); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s.file == nil {
		t.Error("10 MiB are still in memory")
	}
	var got bytes.Buffer
	if err := s.copyTo(&got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) || s.n != int64(want.Len()) {
		t.Error("the spool returned other bytes")
	}
	s.drop()
	if left, _ := os.ReadDir(s.dir); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestSeveralBuffers: a .gltf whose buffer is full goes on in another file, and no view
// lies in two.
func TestSeveralBuffers(t *testing.T) {
	dir := t.TempDir()
	w, err := Create(filepath.Join(dir, "a b.gltf"), Options{Limit: 1 << 20, Split: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Drop()
	var at []string
	for _, view := range []string{"12345678", "abcde", "x", "0123456789ab"} {
		off, err := w.Align()
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, fmt.Sprint(w.Buffer(), off))
		if _, err := io.WriteString(w, view); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := strings.Join(at, ", "), "0 0, 0 8, 1 0, 1 4"; got != want {
		t.Errorf("views at %s, want %s", got, want)
	}
	var got []Buffer
	if _, err := w.Close(func(list []Buffer) (head, tail []byte) { got = list; return []byte("{"), []byte("}") }); err != nil {
		t.Fatal(err)
	}
	if want := []Buffer{{16, "a%20b.bin"}, {16, "a%20b_1.bin"}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	for name, want := range map[string]string{"a b.bin": "12345678abcde\x00\x00\x00", "a b_1.bin": "x\x00\x00\x000123456789ab"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

package glb

import (
	"bytes"
	"io"
	"os"
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

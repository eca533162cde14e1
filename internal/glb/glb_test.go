package glb

import (
	"bytes"
	"io"
	"testing"
)

func part(s string) Part {
	return Part{int64(len(s)), func(w io.Writer) error { _, err := io.WriteString(w, s); return err }}
}

func TestWrite(t *testing.T) {
	for _, c := range []struct{ text, bin, want string }{
		{`{"a":1}`, "12345678", "glTF\x02\x00\x00\x00\x2c\x00\x00\x00" + "\x08\x00\x00\x00JSON" + `{"a":1} ` + "\x08\x00\x00\x00BIN\x00" + "12345678"},
		{`{"ab":1}`, "", "glTF\x02\x00\x00\x00\x1c\x00\x00\x00" + "\x08\x00\x00\x00JSON" + `{"ab":1}`},
	} {
		var b bytes.Buffer
		if err := Write(&b, part(c.text), part(c.bin)); err != nil || b.String() != c.want || Size(part(c.text), part(c.bin)) != int64(b.Len()) {
			t.Errorf("%q %v", b.String(), err)
		}
	}
}

package format

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRepack: a file that is repacked is the one that is written in that mode.
func TestRepack(t *testing.T) {
	f := gridFile(t, 4, 60)
	for _, from := range allModes {
		r, err := NewBytesReader(mustEncode(t, f, from))
		if err != nil {
			t.Fatal(err)
		}
		for _, to := range allModes {
			got, err := r.Repack(to)
			if from == ModeNone {
				if !errors.Is(err, ErrPlain) {
					t.Errorf("of a plain file: %v", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, mustEncode(t, f, to)) {
				t.Errorf("%v as %v has other bytes than what is written so", from, to)
			}
		}
	}
}

// TestRepackKeeps: a later version's records, unknown chunks and a missing hash stay.
func TestRepackKeeps(t *testing.T) {
	plain := withVersion(t, 3, 100)
	r, err := NewBytesReader(plain)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Repack(ModeDelta); !errors.Is(err, ErrPlain) {
		t.Errorf("of a plain file: %v", err)
	}
	data, err := gridFile(t, 4, 60).Encode(WriteOptions{Compress: ModeLZ4, Version: 4, NoHash: true})
	if err != nil {
		t.Fatal(err)
	}
	if r, err = NewBytesReader(data); err != nil {
		t.Fatal(err)
	}
	got, err := r.Repack(ModeDelta)
	if err != nil {
		t.Fatal(err)
	}
	again, err := NewBytesReader(got)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(r.Header(), again.Header()); d != "" {
		t.Errorf("the header is another one: %s", d)
	}
	if d := cmp.Diff(r.Materials(), again.Materials()); d != "" {
		t.Errorf("the materials are other ones: %s", d)
	}
	if rep := validateBytes(got, ValidateOptions{}); !rep.OK() {
		t.Errorf("%+v", rep.Findings)
	}
}

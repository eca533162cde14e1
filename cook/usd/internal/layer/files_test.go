package layer

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFiles reads every layer below a folder of real files, with all values. It is opt-in:
// UNTOLD_USD names the folder.
func TestFiles(t *testing.T) {
	dir := os.Getenv("UNTOLD_USD")
	if dir == "" {
		t.Skip("UNTOLD_USD is not set")
	}
	read, crates := 0, 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasPrefix(filepath.Ext(path), ".usd") || filepath.Ext(path) == ".usdz" {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var l *Layer
		if IsCrate(data) {
			crates++
			l, err = OpenCrate(context.Background(), bytes.NewReader(data), int64(len(data)), 1<<28)
		} else {
			l, err = ParseText(context.Background(), data, 1<<30)
		}
		if err == nil {
			err = allValues(l.Root)
		}
		read++
		if err != nil {
			t.Errorf("%s: %v", path, err)
			if e := (*Error)(nil); !errors.As(err, &e) {
				t.Errorf("the error is a %T", err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d layers, %d of them crates", read, crates)
}

// allValues reads the values of all prims.
func allValues(p *Prim) error {
	for _, a := range p.Properties {
		if _, err := a.Get(); err != nil {
			return err
		}
	}
	for _, s := range p.Sets {
		for _, v := range s.Variants {
			if err := allValues(v); err != nil {
				return err
			}
		}
	}
	for _, c := range p.Children {
		if err := allValues(c); err != nil {
			return err
		}
	}
	return nil
}

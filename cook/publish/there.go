package publish

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/untoldkit/untold/internal/blob"
)

// compares reports whether files that the place has are compared by their hashes: those of a
// folder are, which reads as fast as the scene does. A bucket would send all of it back.
func (r *run) compares() bool {
	_, ok := r.to.(blob.Filer)
	return ok
}

// damaged returns which files the place has with other bytes than it should, of those whose
// sizes are right. They count as not there.
func (r *run) damaged(ctx context.Context, files []*file) ([]*file, error) {
	if !r.compares() {
		return nil, nil
	}
	bad := make([]bool, len(files))
	err := r.each(ctx, "compare", len(files), func(i int) error {
		sum, err := r.hashThere(ctx, files[i].key)
		bad[i] = sum != files[i].sha
		return err
	})
	if err != nil {
		return nil, err
	}
	var out []*file
	for i, f := range files {
		if bad[i] {
			delete(r.there, f.key)
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b *file) int { return strings.Compare(a.key, b.key) })
	return out, nil
}

// hashThere returns the SHA-256 of what the place has under a key, "" when it has nothing.
func (r *run) hashThere(ctx context.Context, key string) (string, error) {
	in, _, err := r.to.Get(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer in.Close()
	h := sha256.New()
	if _, err := io.Copy(h, in); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

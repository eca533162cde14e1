package main

import (
	"context"

	"github.com/untoldkit/untold/internal/blob"
	"github.com/untoldkit/untold/internal/blob/s3"
)

// openPlace opens a bucket or a folder.
func openPlace(ctx context.Context, text string) (blob.Place, error) {
	at, err := blob.ParseAddress(text)
	if err != nil {
		return nil, err
	}
	if at.Bucket == "" {
		return blob.OpenFolder(at.Folder)
	}
	return s3.Open(ctx, at, s3.Options{})
}

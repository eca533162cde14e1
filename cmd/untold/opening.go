package main

import (
	"compress/gzip"
	"io"
	"os"
	"time"
)

// openingOver returns how long a network that is modelled takes to bring a manifest: the
// latency, and then what a server sends of it to those who take gzip. It is 0 without a
// network, and where no manifest has to come.
func openingOver(bandwidth float64, latency time.Duration, path string) (time.Duration, error) {
	if path == "" || bandwidth <= 0 {
		return latency, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	var sent counter
	z := gzip.NewWriter(&sent)
	if _, err := io.Copy(z, f); err != nil {
		return 0, err
	}
	if err := z.Close(); err != nil {
		return 0, err
	}
	return latency + time.Duration(float64(sent)/bandwidth*float64(time.Second)), nil
}

// counter counts what is written to it.
type counter int64

// Write counts bytes.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

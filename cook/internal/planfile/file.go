package planfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/untoldkit/untold/internal/plainfile"
)

// magic begins the file.
const magic = "untold plan 1\n"

// MagicBytes are as many of a file as Is needs.
const MagicBytes = len(magic)

// Ext ends the names of plans.
const Ext = ".plan"

// mostBytes bounds the file that is read.
const mostBytes = 4 << 30

// Write writes a file of sections.
func Write(w io.Writer, sections [][]byte) error {
	h := sha256.New()
	to := io.MultiWriter(w, h)
	if _, err := io.WriteString(to, magic); err != nil {
		return err
	}
	for _, s := range sections {
		if _, err := to.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(s)))); err != nil {
			return err
		}
		if _, err := to.Write(s); err != nil {
			return err
		}
	}
	_, err := w.Write(h.Sum(nil))
	return err
}

// Is tells whether bytes are the beginning of a plan.
func Is(data []byte) bool { return bytes.HasPrefix(data, []byte(magic)) }

// Read reads the sections of a file. An error about its content wraps ErrDamaged.
func Read(path string) ([][]byte, error) {
	data, err := plainfile.Read(path, mostBytes)
	if err != nil {
		var e interface{ Timeout() bool }
		if errors.As(err, &e) { // of the system, which names the file
			return nil, err
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	sections, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return sections, nil
}

// Parse cuts a file into its sections, which stay a part of data.
func Parse(data []byte) (sections [][]byte, err error) {
	end := len(data) - sha256.Size
	if !Is(data) || end < len(magic) {
		return nil, ErrDamaged
	}
	if sha256.Sum256(data[:end]) != [sha256.Size]byte(data[end:]) {
		return nil, fmt.Errorf("%w (its hash is another)", ErrDamaged)
	}
	for rest := data[len(magic):end]; len(rest) > 0; {
		if len(rest) < 8 {
			return nil, ErrDamaged
		}
		n := binary.LittleEndian.Uint64(rest)
		if rest = rest[8:]; n > uint64(len(rest)) {
			return nil, ErrDamaged
		}
		sections = append(sections, rest[:n:n])
		rest = rest[n:]
	}
	return sections, nil
}

// Package plainfile opens regular files and nothing else. A pipe, a device or
// a socket in the place of an input would block its reader for good or never
// end; here it is an error at once.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/untoldkit/untold/internal/journal"
)

var (
	// ErrNotPlain: a name stands for a folder, a pipe, a device or a socket.
	// The error is a *KindError.
	ErrNotPlain = errors.New("not a plain file")
	// ErrTooLarge: a file is longer than its reader takes.
	ErrTooLarge = errors.New("file is too large")
)

// KindError says what a name stands for that is no plain file.
type KindError struct {
	Path string
	Mode fs.FileMode // the type bits
}

// Error returns one line with what to do.
func (e *KindError) Error() string {
	advice := "only plain files are read: store its content in one"
	if e.Mode.IsDir() {
		advice = "name a file in it"
	}
	return fmt.Sprintf("%s is a %s, not a regular file; %s", e.Path, Kind(e.Mode), advice)
}

// Is makes errors.Is find ErrNotPlain, and fs.ErrInvalid as for other names
// that cannot be opened.
func (e *KindError) Is(target error) bool { return target == ErrNotPlain || target == fs.ErrInvalid }

// Kind names a type of file.
func Kind(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "folder"
	case m&fs.ModeNamedPipe != 0:
		return "pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	case m.IsRegular():
		return "plain file"
	}
	return "special file"
}

// opener is what the functions os.Stat and os.OpenFile, or an os.Root, do.
type opener struct {
	stat func(string) (fs.FileInfo, error)
	open func(string, int, fs.FileMode) (*os.File, error)
}

// Open opens a regular file for reading; links are followed. The file of a
// scene is opened where the journal of a cook says that it lies.
func Open(path string) (*os.File, fs.FileInfo, error) {
	f, err := journal.Follow("", path, func() (*os.File, error) {
		f, _, err := opener{os.Stat, os.OpenFile}.do(path)
		return f, err
	})
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, st, nil
}

// OpenIn opens a regular file inside an open folder.
func OpenIn(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	return opener{root.Stat, root.OpenFile}.do(name)
}

func (o opener) do(name string) (*os.File, fs.FileInfo, error) {
	// To open a device can have an effect, so it is not even tried.
	st, err := o.stat(name)
	var failed *fs.PathError
	if errors.As(err, &failed) {
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: failed.Err}
	}
	if err != nil {
		return nil, nil, err
	}
	if !st.Mode().IsRegular() {
		return nil, nil, &KindError{name, st.Mode().Type()}
	}
	// The name may stand for a pipe by now, which must not block.
	f, err := o.open(name, os.O_RDONLY|NonBlocking, 0)
	if err != nil {
		return nil, nil, err
	}
	st, err = f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &KindError{name, st.Mode().Type()}
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, st, nil
}

// Read reads a whole regular file of at most limit bytes. A longer one, also
// one that grows meanwhile, is an error that matches ErrTooLarge.
func Read(path string, limit int64) ([]byte, error) {
	f, st, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st.Size() > limit {
		return nil, tooLarge(path, limit)
	}
	data := make([]byte, 0, st.Size()+1)
	for {
		if int64(len(data)) > limit {
			return nil, tooLarge(path, limit)
		}
		if len(data) == cap(data) {
			data = append(data, 0)[:len(data)]
		}
		n, err := f.Read(data[len(data):min(int64(cap(data)), limit+1)])
		data = data[:len(data)+n]
		switch {
		case errors.Is(err, io.EOF):
			return data, nil
		case err != nil:
			return nil, err
		}
	}
}

func tooLarge(path string, limit int64) error {
	return fmt.Errorf("%s has more than %d bytes: %w", path, limit, ErrTooLarge)
}

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/untoldkit/untold/internal/atomicfile"
)

// stateFile lies beside the kept corpus.
const stateFile = "state.json"

// state is where a long run stands. It is saved after every turn.
type state struct {
	Turns   int                `json:"turns"`
	Seconds float64            `json:"seconds"`
	Next    string             `json:"next"` // whose turn it is
	Targets map[string]*record `json:"targets"`
}

// record sums up a target's turns.
type record struct {
	Turns   int     `json:"turns"`
	Seconds float64 `json:"seconds"`
	Execs   int64   `json:"execs"`
	Failed  int     `json:"failed"` // turns that ended with a failing input
}

func loadState(dir string) (*state, error) {
	path := filepath.Join(dir, stateFile)
	s := &state{}
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := json.Unmarshal(b, s); err != nil {
			return nil, fmt.Errorf("%s: %w; remove it to begin anew, the corpus stays", path, err)
		}
	}
	if s.Targets == nil {
		s.Targets = map[string]*record{}
	}
	return s, nil
}

// next returns the index of the target whose turn it is: the one that the last
// run named or, where that is gone, the first behind it.
func (s *state) next(targets []target) int {
	for i, t := range targets {
		if t.String() >= s.Next {
			return i
		}
	}
	return 0
}

// took books a turn.
func (s *state) took(t target, d time.Duration, execs int64, failed bool, next target) {
	r := s.Targets[t.String()]
	if r == nil {
		r = &record{}
		s.Targets[t.String()] = r
	}
	s.Turns++
	r.Turns++
	s.Seconds += d.Seconds()
	r.Seconds += d.Seconds()
	r.Execs += execs
	if failed {
		r.Failed++
	}
	s.Next = next.String()
}

func (s *state) save(dir string) error {
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(dir, stateFile), func(w io.Writer) error {
		_, err := w.Write(append(b, '\n'))
		return err
	})
}

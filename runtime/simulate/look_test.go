package simulate

import (
	"context"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/untoldkit/untold/runtime"
)

// TestLookIsAskedWhenSomethingChanged: what the meter counts in frames at rest is
// what Coverage would say then, although it is not asked every time.
func TestLookIsAskedWhenSomethingChanged(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := genScenario(rt)
		if rapid.Bool().Draw(rt, "trouble") {
			trouble(rt, s)
		}
		session, err := Start(context.Background(), s, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer session.Close()
		m := session.r.meter
		last := s.Path.Keys[len(s.Path.Keys)-1].T
		for at := time.Duration(0); at <= last; at += s.DT {
			if err := session.Frame(context.Background(), s.Path.At(at)); err != nil {
				rt.Fatal(err)
			}
			if !m.rested {
				continue
			}
			if got, want := m.covered, m.streamer.Coverage(); got != want {
				rt.Fatalf("at %v: %+v, want %+v", at, got, want)
			}
		}
	})
}

// BenchmarkRestedFrame is what the meter takes in a frame in which nothing has
// changed, and what asking Coverage does.
func BenchmarkRestedFrame(b *testing.B) {
	s := flight(b, 50, 15, time.Second)
	session, err := Start(b.Context(), s, Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer session.Close()
	camera := s.Path.At(0)
	for k := 0; k < 600 || !session.r.meter.rested; k++ {
		if err := session.Frame(b.Context(), camera); err != nil {
			b.Fatal(err)
		}
	}
	m := session.r.meter
	st := m.streamer.Stats()
	for name, f := range map[string]func() runtime.Coverage{
		"as it was":  m.streamer.Coverage,
		"remembered": func() runtime.Coverage { return m.cover(&st, &camera) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
		})
	}
}

package decoder

import (
	"errors"
	"fmt"
	"syscall/js"
)

// page is the port of a page: an object of decoders.js.
type page struct{ object js.Value }

// NewPort makes a port of an object of decoders.js.
func NewPort(object js.Value) Port { return page{object} }

func (p page) Workers() int { return p.object.Get("count").Int() }

func (p page) Start(worker int, got func(size int, read func([]byte)), ended func(why string)) error {
	f := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if data := args[0]; data.Type() == js.TypeString {
			ended(data.String())
		} else {
			got(data.Length(), func(dst []byte) { js.CopyBytesToGo(dst, data) })
		}
		return nil
	})
	if text := p.object.Call("start", worker, f).String(); text != "" {
		f.Release()
		return errors.New(text)
	}
	return nil
}

func (p page) Send(worker int, parts [][]byte) { p.object.Call("send", worker, join(parts)) }
func (p page) Stop(worker int)                 { p.object.Call("stop", worker) }

// join copies parts to an array of JavaScript.
func join(parts [][]byte) js.Value {
	n := 0
	for _, part := range parts {
		n += len(part)
	}
	all := js.Global().Get("Uint8Array").New(n)
	n = 0
	for _, part := range parts {
		if len(part) > 0 {
			js.CopyBytesToJS(all.Call("subarray", n), part)
			n += len(part)
		}
	}
	return all
}

// Serve answers the messages that decoder.js hands over, until the worker ends.
func Serve(object js.Value) error {
	failed := make(chan error, 1)
	s := NewServer(
		func(parts [][]byte) { object.Call("send", join(parts)) },
		func(file string) { object.Call("distrust", file) },
		func(file string, size int64) { object.Call("expect", file, size) },
	)
	object.Set("handle", js.FuncOf(func(_ js.Value, args []js.Value) any {
		message := make([]byte, args[0].Length())
		js.CopyBytesToGo(message, args[0])
		if err := s.Handle(message); err != nil {
			select {
			case failed <- fmt.Errorf("decoder: %w", err):
			default:
			}
		}
		return nil
	}))
	object.Call("ready")
	return <-failed
}

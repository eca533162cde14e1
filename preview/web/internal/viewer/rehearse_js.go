package main

import (
	"bytes"
	"context"
	"fmt"
	"syscall/js"
	"time"

	"github.com/untoldkit/untold/preview"
	"github.com/untoldkit/untold/runtime/simulate"
)

// rehearse flies along a recorded path on a virtual clock, as untold simulate does:
// tests compare the events of both. The page gives the text of the path, the time
// between frames and the length, in seconds (0: to the last key), and whether it wants
// the events, which it gets as JSON lines at the end.
func rehearse(ctx context.Context, o preview.Options, page, flight js.Value) error {
	path, err := simulate.ParseCameraPath([]byte(flight.Get("path").String()))
	if err != nil {
		return fmt.Errorf("the path of the flight: %w", err)
	}
	open, err := o.Scenes[0].Load()
	if err != nil {
		return err
	}
	path.SeeAll(open.Source.Manifest)
	seconds := func(name string) time.Duration { return time.Duration(flight.Get(name).Float() * float64(time.Second)) }
	o.Headless, o.Path, o.FixedDT, o.Duration = true, path, seconds("dt"), seconds("duration")
	o.Start, o.Viewpoint = nil, ""
	var lines bytes.Buffer
	var line []byte
	if flight.Get("events").Bool() {
		o.OnRecord = func(r *simulate.Record) error {
			line = append(r.AppendJSON(line[:0]), '\n')
			lines.Write(line)
			return nil
		}
	}
	report, err := preview.Run(ctx, o)
	if err != nil {
		return err
	}
	page.Call("flown", lines.String(), report.Undrawn)
	return nil
}

package main

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/simulate"
)

// pathFlags are the flags of the camera's path, which simulate and preview share.
type pathFlags struct {
	cameraPath string
	orbit, fly bool
	walk       uint64
	speed      float64
	duration   time.Duration
}

// register adds the flags; length says what --duration is the length of.
func (p *pathFlags) register(f *pflag.FlagSet, length string) {
	f.StringVar(&p.cameraPath, "camera-path", "", "move the camera along this recorded path")
	f.BoolVar(&p.orbit, "orbit", false, "move the camera once around the scene")
	f.BoolVar(&p.fly, "fly-through", false, "move the camera through the scene in lanes")
	f.Uint64Var(&p.walk, "walk", 0, "stroll through the scene; the number picks one of many ways")
	f.Float64Var(&p.speed, "speed", 0, "speed of a generated path in metres per second (default 20, a walk 1.5, in small scenes less)")
	f.Var(timeVar(&p.duration), "duration", length+"; a generated path without --speed takes as long")
}

// onePath makes a command refuse more than one path.
func onePath(cmd *cobra.Command) {
	cmd.MarkFlagsMutuallyExclusive("camera-path", "orbit", "fly-through", "walk")
}

// chosen reports whether there is to be a path.
func (p *pathFlags) chosen(cmd *cobra.Command) bool {
	return p.cameraPath != "" || p.orbit || p.fly || cmd.Flags().Changed("walk")
}

// path returns the path that the flags ask for, nil for none.
func (p *pathFlags) path(cmd *cobra.Command, m *manifest.Manifest) (*simulate.CameraPath, error) {
	if p.cameraPath != "" {
		path, err := simulate.LoadCameraPath(p.cameraPath)
		if err != nil {
			return nil, inputError(err)
		}
		return path, nil
	}
	o := simulate.PathOptionsOf(m)
	o.Speed, o.Duration = p.speed, p.duration
	switch {
	case p.orbit:
		return simulate.Orbit(o)
	case cmd.Flags().Changed("walk"):
		return simulate.Walk(o, p.walk)
	case p.fly:
		return simulate.FlyThrough(o)
	}
	return nil, nil
}

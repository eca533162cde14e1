package preview

import (
	"github.com/untoldkit/untold/preview/render"
	"github.com/untoldkit/untold/runtime"
	"github.com/untoldkit/untold/runtime/simulate"
)

// newJudge returns what measures a scene in real time, as the simulation does.
func newJudge(open *Loaded, cfg runtime.Config) *simulate.Meter {
	sc := simulate.Cooked(open.Source.Path, open.Source.Manifest)
	sc.Config = cfg
	return simulate.NewMeter(sc)
}

// figures returns the figures of the scene, those of the simulation in virtual
// time.
func (a *app) figures() simulate.Report {
	if a.session != nil {
		return a.session.Report()
	}
	r, st := a.judge.Report(), a.s.Stats()
	r.BytesRequested, r.BytesLoaded = st.BytesRequested, st.BytesLoaded
	return r
}

// retire keeps the figures of a scene that another one follows.
func (a *app) retire() {
	f := a.figures()
	a.meter.closed = a.meter.closed.Then(&f)
}

// addTextures fills in what the renderer knows of textures, of all scenes
// together.
func addTextures(r *simulate.Report, s *render.Stats) {
	st := &s.TextureStream
	r.PeakTextureBytes = max(r.PeakTextureBytes, st.PeakBytes)
	r.TextureLoads, r.TextureUpgrades, r.TextureDowngrades = int(st.Loads), int(st.Upgrades), int(st.Downgrades)
	r.TextureFailures, r.TextureSheds, r.TextureRefusals = int(st.Failures), int(st.Sheds), int(st.Refused)
	r.TextureBytesLoaded, r.PeakTextureReserved = s.TextureBytesLoaded, st.PeakReserved
	r.TexturesMinimum, r.TexturesMedium, r.TexturesFull, r.TexturesMissing = st.Minimum, st.Medium, st.Full, st.Missing
}

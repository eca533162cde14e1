package runtime

import "time"

// env is what every part of a Streamer may read: the configuration, the time and
// the camera of the present call, and the scenes with the records of their
// tiles. Only the Streamer writes it, but for wake.
type env struct {
	cfg Config
	// Parameters of cfg as durations.
	updateInterval, burstInterval, gracePeriod, minResident time.Duration
	dwell, handoffMaxWait, fadeDuration                     time.Duration
	fetches                                                 bool // a Fetcher brings the payloads

	now       time.Duration
	frame     uint64
	tickCount uint32
	camera    Camera // with the last valid position and direction
	scenes    []*scene
	wake      bool // tick in this frame: something came in
	sleepless bool // tests only: look at everything in every tick
}

// newEnv works out what follows from a configuration alone.
func newEnv(cfg *Config) *env {
	e := &env{
		cfg:            *cfg,
		updateInterval: seconds(cfg.UpdateInterval), burstInterval: seconds(cfg.BurstTickInterval),
		gracePeriod: seconds(cfg.UnloadGracePeriod), minResident: seconds(cfg.MinimumParsedTileResidentSeconds),
		dwell: seconds(cfg.SecondaryRepresentationMinDwellSeconds), handoffMaxWait: seconds(cfg.HandoffMaxWait),
		fadeDuration: seconds(cfg.FadeDuration),
	}
	e.camera.Forward = [3]float64{0, 0, -1}
	return e
}

package memory

// Memory is what a probe knows, in bytes.
type Memory struct {
	GeometryBudget int64 // 0: the Streamer's Config; 0 there: unlimited
	TextureBudget  int64 // as GeometryBudget
	GeometryUsed   int64 // outside use, added to what the Streamer has uploaded
	TextureUsed    int64
}

// PressureLevel grades memory pressure from outside.
type PressureLevel uint8

// The levels.
const (
	PressureNone PressureLevel = iota
	PressureWarning
	PressureCritical
)

// String returns none, warning or critical.
func (p PressureLevel) String() string {
	return [...]string{"none", "warning", "critical"}[min(p, PressureCritical)]
}

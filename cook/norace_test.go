//go:build !race

package cook

const raceEnabled = false

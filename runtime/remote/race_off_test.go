//go:build !race

package remote

// raceEnabled makes long tests shorter.
const raceEnabled = false

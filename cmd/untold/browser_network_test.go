package main

import (
	"fmt"
	"testing"
)

// TestBrowserNetwork: on networks that are slow and fail, all of a scene comes all the
// same, and keys move through it.
func TestBrowserNetwork(t *testing.T) {
	b := startBrowser(t, 96, 64)
	_, dir := smallCity(t)
	for name, flags := range map[string][]string{
		"fast":    {"--latency", "5ms", "--bandwidth", "50MBps"},
		"slow":    {"--latency", "150ms", "--bandwidth", "1MBps"},
		"failing": {"--latency", "40ms", "--bandwidth", "10MBps", "--fail-rate", "0.15", "--fail-with", "status,abort", "--seed", "3"},
	} {
		s := startServe(t, dir, flags...)
		before := b.open(t, s.url+"?shadows=-1&samples=1", 2)
		if before.Undrawn != 0 || before.Draws == 0 {
			t.Errorf("%s: %+v", name, before)
		}
		b.key(t, "KeyW", "w", 3)
		if after := b.settle(t, 2); after.Position == before.Position || after.Undrawn != 0 {
			t.Errorf("%s: W does not move, or leaves something undrawn: %+v", name, after)
		}
	}
}

// TestBrowserOffline: what a lost connection has kept away comes when it is there again,
// in a scene that is shown and in one that could not be opened.
func TestBrowserOffline(t *testing.T) {
	b, _, s := browserCity(t, 96, 64)
	b.call(t, "Network.enable", nil, nil)
	offline := func(on bool) {
		b.call(t, "Network.emulateNetworkConditions", map[string]any{"offline": on, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}, nil)
	}
	start := b.open(t, s.url+"?shadows=-1&samples=1", 2)
	offline(true)
	p := start.Position
	b.eval(t, fmt.Sprintf(`document.querySelector("untold-viewer").flyTo({position: [%g, %g, %g], forward: [%g, -0.2, %g]}, {seconds: 0})`,
		p[0]+40*start.Forward[0], p[1]*0.3, p[2]+40*start.Forward[2], -start.Forward[0], -start.Forward[2]), nil)
	b.eval(t, `new Promise((done) => setTimeout(() => done(1), 1500))`, nil)
	offline(false)
	if after := b.settle(t, 2); after.Undrawn != 0 || after.Draws == 0 || after.Position == p {
		t.Errorf("%+v", after)
	}
	offline(true)
	b.eval(t, `new Promise((done) => { const v = document.querySelector("untold-viewer"); v.addEventListener("error", () => done(1), { once: true }); v.src = v.src + "?again"; })`, nil)
	offline(false)
	if after := b.settle(t, 2); after.Undrawn != 0 || after.Draws == 0 {
		t.Errorf("%+v", after)
	}
}

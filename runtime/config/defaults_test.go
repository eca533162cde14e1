package config

import (
	"fmt"
	"math"
	"testing"
)

// documented are the defaults as the documents of the system state them, typed
// by hand: a change of a default shows here.
var documented = map[string]string{
	"enabled":                                "true",
	"updateInterval":                         "0.1",
	"burstTickInterval":                      "0.016",
	"maxQueryRadius":                         "500",
	"fitQueryRadius":                         "true",
	"dispatchEpsilon":                        "1",
	"maxConcurrentTileLoads":                 "2",
	"maxConcurrentLODLoads":                  "4",
	"maxConcurrentHLODLoads":                 "4",
	"tileParseMemoryBudgetMB":                "200",
	"maxTileUnloadsPerUpdate":                "2",
	"unloadGracePeriod":                      "3",
	"minimumParsedTileResidentSeconds":       "8",
	"tileParseTimeoutSeconds":                "60",
	"meshLoadTimeoutSeconds":                 "60",
	"retryBackoffBase":                       "5",
	"retryBackoffMax":                        "60",
	"lodHysteresisFactor":                    "0.9",
	"hlodHysteresisFactor":                   "0.9",
	"secondaryRepresentationMinDwellSeconds": "1",
	"velocitySmoothing":                      "0.85",
	"velocityLookAheadTime":                  "0.5",
	"velocityLookAheadMinSpeed":              "1.5",
	"enableFrustumGate":                      "true",
	"frustumGatePadding":                     "5",
	"tileFrustumGatePadding":                 "20",
	"floorProximityGateY":                    "5",
	"targetErrorPixels":                      "2",
	"pictureHeight":                          "1080",
	"triangleBudget":                         "2000000",
	"enableImportanceSort":                   "true",
	"viewAlignmentMinWeight":                 "0.2",
	"enableOcclusionSort":                    "true",
	"occlusionFullThreshold":                 "0.85",
	"occlusionMinWeight":                     "0.05",
	"hierarchyOcclusionPenalty":              "0.005",
	"batchSecondaryTileRepresentations":      "false",
	"nearBandFraction":                       "0.33",
	"nearBandMaxConcurrentLoads":             "1",
	"maxConcurrentLoads":                     "3",
	"maxUnloadsPerUpdate":                    "12",
	"evictionDistanceWeight":                 "0.6",
	"evictionSizeWeight":                     "0.4",
	"visibleEvictionProtectionRadius":        "30",
	"highWaterMark":                          "0.85",
	"lowWaterMark":                           "0.7",
	"meshCacheBudget":                        "64000000",
	"outOfCoreNodeThreshold":                 "50",
	"outOfCoreGeometryFraction":              "0.3",
	"lod.distances":                          "[50 100 200 500]",
	"lod.bias":                               "1",
	"lod.hysteresis":                         "5",
	"lod.frameInterval":                      "4",
	"lod.minCameraMove":                      "0.5",
	"fadeDuration":                           "0.3",
	"enableFadeTransitions":                  "false",
	"texture.upgradeRadius":                  "12",
	"texture.downgradeRadius":                "20",
	"texture.maxDimension":                   "1024",
	"texture.minDimension":                   "256",
	"texture.interval":                       "0.2",
	"texture.concurrentOps":                  "3",
	"texture.hysteresis":                     "0.15",
	"texture.pressureHold":                   "3",
	"batching.maxCellVertices":               "160000",
	"batching.maxCellIndices":                "300000",
	"batching.maxCellBytes":                  "8388608",   // 8 MiB
	"cache.budget":                           "500000000", // 500 MB
	"http.requestTimeout":                    "30",
	"http.resourceTimeout":                   "300",
	"http.attempts":                          "3",

	// Where ours differs on purpose, and what is ours alone.
	"lodGate":          "false",
	"normalizeBands":   "false",
	"handoff":          "covered",
	"handoffMaxWait":   "2",
	"fillIdleSlots":    "false",
	"outOfCorePolicy":  "auto",
	"texture.profile":  "balanced",
	"batching.enabled": "true",
	"cache.dir":        "",
	"outOfViewDetail":  "0.5",
	"geometryBudget":   "0", // the memory probe decides
	"textureBudget":    "0",
}

func TestDocumentedDefaults(t *testing.T) {
	c := Default()
	for _, p := range Params() {
		want, ok := documented[p.Key]
		if !ok {
			t.Errorf("%s has no documented default: add it to the table", p.Key)
			continue
		}
		if got := fmt.Sprint(valueOf(t, &c, p.Key)); got != want {
			t.Errorf("%s is %s by default, documented is %s", p.Key, got, want)
		}
	}
	if len(documented) != len(Params()) {
		t.Errorf("%d defaults are documented, there are %d parameters", len(documented), len(Params()))
	}
}

func TestDocumentedPresets(t *testing.T) {
	const miB = 1 << 20
	for _, c := range []struct {
		name      string
		total     int64
		high, low float64
	}{
		{"low", 256 * miB, 0.80, 0.60},
		{"standard", 512 * miB, 0.85, 0.70},
		{"high", 1024 * miB, 0.90, 0.75},
		{"unlimited", 0, 0.85, 0.70},
	} {
		p, ok := Preset(c.name)
		if !ok || p.HighWaterMark != c.high || p.LowWaterMark != c.low {
			t.Errorf("%s: water marks %v and %v, documented are %v and %v", c.name, p.HighWaterMark, p.LowWaterMark, c.high, c.low)
		}
		if c.total == 0 {
			if p.GeometryBudget != math.MaxInt64 || p.TextureBudget != math.MaxInt64 {
				t.Errorf("%s has limits", c.name)
			}
			continue
		}
		// 60 % for geometry, 40 % for textures.
		if p.GeometryBudget+p.TextureBudget != c.total || math.Abs(float64(p.GeometryBudget)-0.6*float64(c.total)) > 5 {
			t.Errorf("%s: %d and %d bytes of %d", c.name, p.GeometryBudget, p.TextureBudget, c.total)
		}
	}
}

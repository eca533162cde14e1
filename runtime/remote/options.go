package remote

import (
	"fmt"
	"log/slog"
	"net/http"

	"github.com/untoldkit/untold/manifest"
	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/internal/hostqueue"
	"github.com/untoldkit/untold/runtime/remote/internal/diskcache"
)

// Options changes a Fetcher. The zero value is right for most.
type Options struct {
	// CacheDir is the folder of the disk cache, made when missing; "":
	// DefaultCacheDir.
	CacheDir string
	// CacheBudget is the size of the cache in bytes; 0: 500 MB. Beyond it the
	// least recently used files go until 75 % of it are left.
	CacheBudget int64
	// NoSync leaves out the flush of each file to the disk. A crash of the
	// machine, not of the process, may then damage files that have just come;
	// they are found by their hash where the manifest declares one.
	NoSync bool
	// AllowInsecureHTTP allows http to other hosts than this machine.
	AllowInsecureHTTP bool
	// HTTP has the number of attempts and the timeouts in seconds; zero fields:
	// those of config.Default.
	HTTP config.HTTP
	// FinalRefusals ends a download with the first answer that says that the file is not
	// there, or not for this client: 401, 403, 404 or 410 without a Retry-After. It is for
	// files that are named by somebody; those of a scene that is being published may come
	// later.
	FinalRefusals bool
	// HostRequests is how many requests to one host may run at a time, besides
	// SmallRequests; 0: 12. With 6, as browsers have them to a host, the nodes of a pyramid
	// take half of the 10 MB/s of a network with a latency of 50 ms.
	HostRequests int
	// TextureRequests is how many of those may be for textures, 0: 4. At least
	// one request of a host that allows more than one is kept from them.
	TextureRequests int
	// SmallRequests is how many requests for up to 96 KiB of a texture may run beside those;
	// 0: 48, below 0: none. With as few as there are otherwise the latency of the network and
	// not its bandwidth would say when surfaces are textured.
	SmallRequests int
	// TexturesOnDemand brings textures when OpenTexture asks for them, and of cooked
	// ones only the levels that it asks for, instead of all with their containers.
	TexturesOnDemand bool
	// MaxBody is the largest body in bytes that is accepted, whatever a manifest
	// declares; 0: 1 GiB.
	MaxBody int64
	// Ranges says whether tiles that stream mesh by mesh are read by ranges; "":
	// RangesAuto.
	Ranges RangePolicy
	// Jitter lengthens every pause between attempts by a random part of up to
	// this share of it, so that many clients do not come back at the same moment;
	// 0: 0.25, or none when Clock is set; below 0: none.
	Jitter float64
	// Transport does the requests; nil: one made for this Fetcher, with as many
	// connections to a host as HostRequests and SmallRequests and HTTP/2 where offered. That one looks
	// at every address that it connects to; with another one, redirects inward are
	// refused by the names and addresses in them only.
	Transport http.RoundTripper
	// Clock is the time; nil: SystemClock.
	Clock Clock
	// Logger hears of retries, failures and stale manifests; nil: silent.
	Logger *slog.Logger
	// MaxManifest is the largest manifest in bytes that is read; 0: 256 MiB.
	MaxManifest int64
	// MaxTotal is how many bytes of bodies are read in all before every request
	// fails with ErrTooLarge; 0: no limit.
	MaxTotal int64
	// UserAgent is sent with every request; "": untold.
	UserAgent string

	// Tests replace these.
	network *network
	disk    func(diskcache.Disk) diskcache.Disk
}

// net returns the network to connect over.
func (o *Options) net() network {
	if o.network != nil {
		return *o.network
	}
	return systemNetwork()
}

// RangePolicy says when payloads are read by ranges.
type RangePolicy string

const (
	// RangesAuto reads payloads by ranges where a payload.Request allows it and the
	// server can.
	RangesAuto RangePolicy = "auto"
	// RangesOff fetches whole files.
	RangesOff RangePolicy = "off"
)

const (
	defaultMaxBody = 1 << 30
	// defaultMaxManifest is room for some 200,000 files at 1 kB each, and half of the
	// limit for a manifest on the disk.
	defaultMaxManifest = manifest.MaxBytes / 2
	defaultJitter      = 0.25
)

// withDefaults fills zero fields in and refuses senseless ones.
func (o Options) withDefaults() (Options, error) {
	d := config.Default().HTTP
	if o.HTTP.Attempts == 0 {
		o.HTTP.Attempts = d.Attempts
	}
	if o.HTTP.RequestTimeout == 0 {
		o.HTTP.RequestTimeout = d.RequestTimeout
	}
	if o.HTTP.ResourceTimeout == 0 {
		o.HTTP.ResourceTimeout = d.ResourceTimeout
	}
	if o.HostRequests == 0 {
		o.HostRequests = hostqueue.DefaultRequests
	}
	if o.TextureRequests == 0 {
		o.TextureRequests = hostqueue.DefaultTextures
	}
	switch {
	case o.SmallRequests == 0:
		o.SmallRequests = hostqueue.DefaultSmall
	case o.SmallRequests < 0:
		o.SmallRequests = 0
	}
	if o.MaxBody == 0 {
		o.MaxBody = defaultMaxBody
	}
	if o.MaxManifest == 0 {
		o.MaxManifest = defaultMaxManifest
	}
	if o.CacheBudget == 0 {
		o.CacheBudget = DefaultCacheBudget
	}
	if o.Ranges == "" {
		o.Ranges = RangesAuto
	}
	if o.UserAgent == "" {
		o.UserAgent = "untold"
	}
	if o.Jitter == 0 && o.Clock == nil {
		o.Jitter = defaultJitter
	}
	if o.Clock == nil {
		o.Clock = SystemClock{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	switch {
	case o.HTTP.Attempts < 0, !(o.HTTP.RequestTimeout > 0), !(o.HTTP.ResourceTimeout > 0):
		return o, fmt.Errorf("remote: attempts and timeouts must be above 0, not %+v", o.HTTP)
	case o.MaxManifest < 0, o.MaxTotal < 0:
		return o, fmt.Errorf("remote: limits must not be below 0: manifests of %d bytes, %d bytes in all", o.MaxManifest, o.MaxTotal)
	case o.HostRequests < 0, o.TextureRequests < 0, o.MaxBody < 0, o.CacheBudget < 0:
		return o, fmt.Errorf("remote: limits must not be below 0: %d requests, %d for textures, bodies of %d bytes, a cache of %d bytes",
			o.HostRequests, o.TextureRequests, o.MaxBody, o.CacheBudget)
	case o.Ranges != RangesAuto && o.Ranges != RangesOff:
		return o, fmt.Errorf("remote: ranges are %q; use auto or off", o.Ranges)
	case !(o.Jitter <= 1):
		return o, fmt.Errorf("remote: jitter is %v; use at most 1", o.Jitter)
	}
	return o, nil
}

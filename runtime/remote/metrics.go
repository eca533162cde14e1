package remote

import "sync/atomic"

// Metrics counts what a Fetcher has done since New.
type Metrics struct {
	Requests       int64 `json:"requests"`        // sent; redirects are not counted
	FailedAttempts int64 `json:"failed_attempts"` // including those that were retried
	Retries        int64 `json:"retries"`         // attempts after the first
	Failures       int64 `json:"failures"`        // downloads given up, other than by cancelling
	Conditional    int64 `json:"conditional"`     // requests with If-None-Match or If-Modified-Since
	NotModified    int64 `json:"not_modified"`    // answers 304
	StaleServed    int64 `json:"stale_served"`    // manifests and textures of an earlier time, as the server gave none
	Joined         int64 `json:"joined"`          // callers that shared the download of another
	CacheHits      int64 `json:"cache_hits"`      // manifests and payloads served without a request; textures are below
	CacheMisses    int64 `json:"cache_misses"`    // those of which the cache had nothing fit
	CacheDamaged   int64 `json:"cache_damaged"`   // files of the cache that were not what was stored, or gone: asked for again when wanted
	BytesFetched   int64 `json:"bytes_fetched"`   // of bodies, as far as they were read
	TextureBytes   int64 `json:"texture_bytes"`   // those of textures

	Textures        int64 `json:"textures"`         // brought, whole or their first part
	TexturesPresent int64 `json:"textures_present"` // found in the cache, at every look
	TexturesFailed  int64 `json:"textures_failed"`  // given up, hostile names included
	TexturesPending int64 `json:"textures_pending"` // waiting or under way

	RangeRequests int64 `json:"range_requests"`
	BytesSaved    int64 `json:"bytes_saved"`   // not fetched of files that are read in parts, as of now, and that closed RangeReaders have read
	PartialFiles  int64 `json:"partial_files"` // payloads and textures that were opened to be read in parts
	PartsCached   int64 `json:"parts_cached"`  // those of them of which the cache had parts
	Resumed       int64 `json:"resumed"`       // downloads of whole files that went on where one had broken

	Active    int64 `json:"active"`     // requests under way
	MaxActive int64 `json:"max_active"` // most requests to one host at a time
}

// counters are the fields of Metrics that change.
type counters struct {
	requests, failedAttempts, retries, failures, conditional, notModified, staleServed atomic.Int64
	joined, hits, misses, bytes, textureBytes, ranges, saved, active                   atomic.Int64
	partial, partsCached, resumed                                                      atomic.Int64
	textures, texturesPresent, texturesFailed, texturesPending                         atomic.Int64
	damaged                                                                            atomic.Int64
	maxActive                                                                          peak
}

// peak is the largest of the values it was given.
type peak struct{ atomic.Int64 }

func (p *peak) raise(v int64) {
	for old := p.Load(); v > old && !p.CompareAndSwap(old, v); old = p.Load() {
	}
}

func (c *counters) metrics() Metrics {
	return Metrics{
		Requests: c.requests.Load(), FailedAttempts: c.failedAttempts.Load(), Retries: c.retries.Load(), Failures: c.failures.Load(),
		Conditional: c.conditional.Load(), NotModified: c.notModified.Load(), StaleServed: c.staleServed.Load(), Joined: c.joined.Load(),
		CacheHits: c.hits.Load(), CacheMisses: c.misses.Load(), CacheDamaged: c.damaged.Load(), BytesFetched: c.bytes.Load(), TextureBytes: c.textureBytes.Load(),
		Textures: c.textures.Load(), TexturesPresent: c.texturesPresent.Load(), TexturesFailed: c.texturesFailed.Load(),
		TexturesPending: c.texturesPending.Load(), RangeRequests: c.ranges.Load(), BytesSaved: c.saved.Load(),
		PartialFiles: c.partial.Load(), PartsCached: c.partsCached.Load(), Resumed: c.resumed.Load(),
		Active: c.active.Load(), MaxActive: c.maxActive.Load(),
	}
}

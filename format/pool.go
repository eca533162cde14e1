package format

import "sync"

// pooledBytes is the largest buffer that stays in a pool: chunks of tiles are smaller, and one
// unusual chunk does not keep its memory for ever.
const pooledBytes = 16 << 20

// bufferPool keeps buffers for the time between two uses.
type bufferPool struct{ pool sync.Pool }

// scratch pools the buffers of stored bytes that are decoded elsewhere, deltaBuffers those of
// planes on their way, encodeBuffers those that encoders write to, since they do not know how much
// it will be.
var scratch, deltaBuffers, encodeBuffers bufferPool

// get returns a buffer of n bytes with any content.
func (p *bufferPool) get(n int) *[]byte {
	if n <= pooledBytes {
		if b, ok := p.pool.Get().(*[]byte); ok && cap(*b) >= n {
			*b = (*b)[:n]
			return b
		}
	}
	b := make([]byte, n)
	return &b
}

// put gives a buffer back.
func (p *bufferPool) put(b *[]byte) {
	if cap(*b) <= pooledBytes {
		p.pool.Put(b)
	}
}

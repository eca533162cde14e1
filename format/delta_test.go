package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/untoldkit/untold/format/vertex"

	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"
)

// TestDeltaPlanes: the example of docs/container.md.
func TestDeltaPlanes(t *testing.T) {
	src := []byte{0x00, 0x01, 0x02, 0x01, 0xff, 0x00, 7} // 256, 258, 255, and a byte behind them
	got := make([]byte, len(src))
	deltaIndex16.split(got, src)
	// 256, 2 more, 3 less: twice as much, less one where it is less.
	if want := []byte{0x00, 4, 5, 0x02, 0, 0, 7}; !bytes.Equal(got, want) {
		t.Errorf("planes % x, want % x", got, want)
	}
}

// TestDeltaOfVertices compares with what the specification says, column by column.
func TestDeltaOfVertices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1200).Draw(t, "vertices")
		seed := rapid.Uint64().Draw(t, "seed")
		src := make([]byte, n*vertex.Size+rapid.IntRange(0, 31).Draw(t, "rest"))
		for i := range src {
			seed = seed*6364136223846793005 + 1442695040888963407
			src[i] = byte(seed >> 56 & seed >> 40)
		}
		planes := make([]byte, len(src))
		deltaVertices.split(planes, src)
		if got := specifiedVertices(planes); !bytes.Equal(got, src) {
			t.Fatalf("the specification reads something else")
		}
		got := make([]byte, len(src))
		deltaVertices.join(got, planes)
		if !bytes.Equal(got, src) {
			t.Fatalf("%d vertices do not come back", n)
		}
	})
}

// specifiedVertices undoes planes as docs/container.md tells it, one vertex after the other.
func specifiedVertices(planes []byte) (out []byte) {
	n := len(planes) / 32
	half := func(u, bits uint32) uint32 { // undoes the sign's place
		if u%2 == 1 {
			return (1<<bits - 1) - u/2
		}
		return u / 2
	}
	var last [32]byte
	for i := range n {
		var d [32]byte
		for k := range d {
			d[k] = planes[k*n+i]
		}
		for _, at := range []int{0, 4, 8} {
			u := binary.LittleEndian.Uint32(d[at:])
			x := u / 2
			if u%2 == 1 {
				x = ^x
			}
			binary.LittleEndian.PutUint32(last[at:], binary.LittleEndian.Uint32(last[at:])+x)
		}
		for _, at := range []int{12, 16} {
			was := binary.LittleEndian.Uint32(last[at:])
			var is uint32
			for f := range uint32(3) {
				u := uint32(d[at+int(f)]) + uint32(d[at+3])>>(2*f)%4*256
				is |= (was>>(10*f)%1024 + half(u, 10)) % 1024 << (10 * f)
			}
			is |= (was>>30 ^ uint32(d[at+3])>>6) << 30
			binary.LittleEndian.PutUint32(last[at:], is)
		}
		for at := 20; at < 28; at += 2 {
			u := uint32(binary.LittleEndian.Uint16(d[at:]))
			binary.LittleEndian.PutUint16(last[at:], binary.LittleEndian.Uint16(last[at:])+uint16(half(u, 16)))
		}
		for at := 28; at < 32; at++ {
			last[at] += byte(half(uint32(d[at]), 8))
		}
		out = append(out, last[:]...)
	}
	return append(out, planes[n*32:]...)
}

// TestDeltaOfVertexRefs compares vertices with references with what the specification says.
func TestDeltaOfVertexRefs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 700).Draw(t, "vertices")
		kinds := rapid.IntRange(1, 400).Draw(t, "kinds") // of which some repeat
		coarse := rapid.SampledFrom([]byte{0xff, 0xfc, 0xf0}).Draw(t, "bits")
		seed := rapid.Uint64().Draw(t, "seed")
		src := make([]byte, n*vertex.Size+rapid.IntRange(0, 31).Draw(t, "rest"))
		for i := range src {
			seed = seed*6364136223846793005 + 1442695040888963407
			src[i] = byte(seed>>56) & coarse
		}
		for i := kinds; i < n; i++ {
			copy(src[i*vertex.Size:][:vertex.Size], src[int(seed>>40+uint64(i*i))%kinds*vertex.Size:])
		}
		split := make([]byte, len(src)+refGroups*n)
		deltaVertexRefs.split(split, src)
		if got := specifiedVertexRefs(split, n); !bytes.Equal(got, src) {
			t.Fatal("the specification reads something else")
		}
		got := make([]byte, len(src))
		deltaVertexRefs.join(got, split)
		if !bytes.Equal(got, src) {
			t.Fatalf("%d vertices do not come back", n)
		}
	})
}

// specifiedVertexRefs undoes references and planes as docs/container.md tells it.
func specifiedVertexRefs(split []byte, n int) (out []byte) {
	places, directions, planes := split[:n], split[n:2*n], split[2*n:]
	plain := specifiedVertices(planes) // all but what has references is right
	for i := range n {
		v := slices.Clone(plain[32*i : 32*i+32])
		differs := func(at int) (d [4]byte) {
			for k := range d {
				d[k] = planes[(at+k)*n+i]
			}
			return d
		}
		before := func(refs []byte, at int) uint32 {
			if k := i - 1 - int(refs[i]); k >= 0 {
				return binary.LittleEndian.Uint32(out[32*k+at:])
			}
			return 0
		}
		for _, at := range []int{0, 4, 8} {
			d := differs(at)
			x := binary.LittleEndian.Uint32(d[:])
			if x%2 == 1 {
				x = ^(x / 2)
			} else {
				x /= 2
			}
			binary.LittleEndian.PutUint32(v[at:], before(places, at)+x)
		}
		for _, at := range []int{12, 16} {
			d, u := differs(at), before(directions, at)
			var part, is [3]int // of u, of v
			greatest := 0
			for k := range part {
				part[k] = int(u >> (10 * k) % 1024)
				if part[k] >= 512 {
					part[k] -= 1024
				}
				if part[k]*part[k] > part[greatest]*part[greatest] {
					greatest = k
				}
			}
			for _, k := range []int{(greatest + 1) % 3, (greatest + 2) % 3, greatest} {
				if k == greatest {
					b, c := is[(k+1)%3], is[(k+2)%3]
					guess := 0
					for (guess+1)*(guess+1) <= 511*511-b*b-c*c {
						guess++
					}
					if part[k] < 0 {
						guess = -guess
					}
					if b%4 == 0 && c%4 == 0 {
						guess = int(math.Floor(float64(guess+2)/4)) * 4
					}
					part[k] = guess
				}
				x := int(d[k]) + int(d[3])>>(2*k)%4*256
				if x%2 == 1 {
					x = -(x + 1) / 2
				} else {
					x /= 2
				}
				if is[k] = (part[k] + x + 4096) % 1024; is[k] >= 512 {
					is[k] -= 1024
				}
			}
			x := (u>>30 ^ uint32(d[3])>>6) << 30
			for k := range is {
				x |= uint32(is[k]+1024) % 1024 << (10 * k)
			}
			binary.LittleEndian.PutUint32(v[at:], x)
		}
		out = append(out, v...)
	}
	return append(out, plain[32*n:]...)
}

// TestDeltaRefersBack: of vertices that repeat, nearly all name the one that they repeat.
func TestDeltaRefersBack(t *testing.T) {
	const n, every = 600, 200
	src := make([]byte, n*vertex.Size)
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range src[:every*vertex.Size] {
		src[i] = byte(rng.Uint32())
	}
	for i := every; i < n; i++ {
		copy(src[i*vertex.Size:][:vertex.Size], src[(i-every)*vertex.Size:])
	}
	split := make([]byte, len(src)+refGroups*n)
	deltaVertexRefs.split(split, src)
	for group := range refGroups {
		refs, right := split[group*n:][:n], 0
		for _, ref := range refs[every:] {
			if ref == every-1 {
				right++
			}
		}
		if right < (n-every)*9/10 {
			t.Errorf("%d of %d references name the vertex %d before", right, n-every, every)
		}
	}
	if got, once := len(compressDelta(src, ChunkVertices)), len(compressDelta(src[:every*vertex.Size], ChunkVertices)); got > once*3/2 {
		t.Errorf("%d bytes, once %d", got, once)
	}
}

// TestDeltaOfIndices: indices of both widths come back, whatever the chunk begins with.
func TestDeltaOfIndices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := rapid.SliceOfN(rapid.Byte(), 1, 4000).Draw(t, "indices")
		stored := compressDelta(src, ChunkIndices)
		got, err := decode(nil, stored, CompressDelta, len(src))
		if err != nil || !bytes.Equal(got, src) {
			t.Fatalf("% x come back as % x, %v", src, got, err)
		}
	})
}

// TestDeltaIsSmaller: half of Zstandard's bytes on triangles in the order of a grid.
func TestDeltaIsSmaller(t *testing.T) {
	size := func(m CompressMode) (n uint64) {
		r, err := NewBytesReader(mustEncode(t, gridFile(t, 4, 60), m))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range r.Chunks() {
			if c.Type.isGeometry() {
				n += c.CompressedSize
			}
		}
		return n
	}
	if d, z, l := size(ModeDelta), size(ModeZstd), size(ModeLZ4); 2*d > z || z > l {
		t.Errorf("%d bytes with delta, %d with zstd, %d with lz4", d, z, l)
	}
}

// FuzzDelta: no payload does more than to be refused.
func FuzzDelta(f *testing.F) {
	for _, k := range []ChunkType{ChunkVertices, ChunkIndices} {
		for _, n := range []int{20, leastRefs * 8} {
			src := slices.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, n)
			f.Add(compressDelta(src, k), uint16(len(src)))
		}
	}
	f.Fuzz(func(t *testing.T, stored []byte, size uint16) {
		got, err := decode(nil, stored, CompressDelta, int(size))
		if err == nil && len(got) != int(size) {
			t.Errorf("%d bytes instead of %d", len(got), size)
		}
	})
}

// TestDeltaOfOtherSize: a frame of more or fewer bytes is told by its size.
func TestDeltaOfOtherSize(t *testing.T) {
	stored := compressDelta(make([]byte, 64), ChunkVertices)
	for _, size := range []int{63, 65} {
		if _, err := decode(nil, stored, CompressDelta, size); !errors.Is(err, errDecodedSize) && !errors.Is(err, zstd.ErrDecoderSizeExceeded) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

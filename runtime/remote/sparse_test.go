package remote

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// storePart puts some blocks of a file into a cache.
func storePart(t testing.TB, c *Cache, i int, data []byte, blocks ...int64) have {
	t.Helper()
	h, err := c.beginPart(Entry{Name: partName(name(i)), URL: address(i), Whole: int64(len(data)), ETag: `"1"`})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		block := data[b*blockSize:][:blockBytes(int64(len(data)), b)]
		if err := c.writePart(h.entry.Name, block, b*blockSize); err != nil {
			t.Fatal(err)
		}
		if err := c.keepPart(&h, b, []uint32{crc32.Checksum(block, castagnoli)}); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

// Partial files are recovered as their lists say, whatever has happened to index
// and files.
func TestRecoveryOfParts(t *testing.T) {
	data := body(10 * blockSize)
	for _, tt := range []struct {
		name  string
		spoil func(dir string) error
		size  int64 // of the entry afterwards, 0: none
	}{
		{"nothing", func(string) error { return nil }, 3 * blockSize},
		{"no index", func(dir string) error { return os.Remove(filepath.Join(dir, indexName)) }, 3 * blockSize},
		{"no data", func(dir string) error { return os.Remove(filepath.Join(dir, partName(name(1)))) }, 0},
		{"no list", func(dir string) error { return os.Remove(filepath.Join(dir, name(1)+haveSuffix)) }, 0},
		{"a torn line", func(dir string) error {
			return os.Truncate(filepath.Join(dir, name(1)+haveSuffix), haveSize(dir)-1)
		}, 2 * blockSize},
		{"no list and no index", func(dir string) error {
			os.Remove(filepath.Join(dir, indexName))
			return os.Remove(filepath.Join(dir, name(1)+haveSuffix))
		}, 0},
		{"the list of another file", func(dir string) error {
			return os.Rename(filepath.Join(dir, name(2)+haveSuffix), filepath.Join(dir, name(1)+haveSuffix))
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c, err := OpenCache(dir, CacheOptions{NoSync: true, Clock: newClock()})
			if err != nil {
				t.Fatal(err)
			}
			storePart(t, c, 1, data, 0, 4, 9)
			storePart(t, c, 2, data, 1)
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if err := tt.spoil(dir); err != nil {
				t.Fatal(err)
			}
			c = openCache(t, dir, newClock(), 0)
			e, ok := c.peek(partName(name(1)))
			if ok != (tt.size > 0) || e.Size != tt.size {
				t.Fatalf("%+v, %v", e, ok)
			}
			if ok {
				h, _ := c.loadPart(e.Name)
				got := make([]byte, 100)
				if bad, err := c.readPart(e.Name, &h, got, 4*blockSize+7); len(bad) != 0 || err != nil || !bytes.Equal(got, data[4*blockSize+7:][:100]) {
					t.Errorf("%v, %v", bad, err)
				}
				// What comes after a torn line is not lost with it.
				block := data[5*blockSize:][:blockSize]
				if err := c.writePart(e.Name, block, 5*blockSize); err != nil {
					t.Fatal(err)
				}
				if err := c.keepPart(&h, 5, []uint32{crc32.Checksum(block, castagnoli)}); err != nil {
					t.Fatal(err)
				}
				again, ok := c.loadPart(e.Name)
				if !ok || again.bytes != tt.size+blockSize {
					t.Errorf("%+v", again)
				}
			} else if list := files(t, dir); tt.name == "no list and no index" {
				// Nothing proves that the file is the cache's.
				if !slices.Contains(list, partName(name(1))) {
					t.Errorf("gone: %q", list)
				}
			} else if slices.Contains(list, partName(name(1))) || slices.Contains(list, name(1)+haveSuffix) {
				t.Errorf("left behind: %q", list)
			}
			if bad, err := c.Verify(t.Context(), true); len(bad) != 0 || err != nil {
				t.Errorf("%v, %v", bad, err)
			}
		})
	}
}

func haveSize(dir string) int64 {
	info, err := os.Stat(filepath.Join(dir, name(1)+haveSuffix))
	if err != nil {
		return 0
	}
	return info.Size()
}

// A partial file counts what it has, and is evicted as one.
func TestPartsAreEvictedAsOne(t *testing.T) {
	clock := newClock()
	c := openCache(t, t.TempDir(), clock, 10*blockSize)
	data := body(100 * blockSize)
	storePart(t, c, 1, data, 3, 50, 7)
	clock.Advance(pinFor)
	put(t, c, 2, data[:6*blockSize])
	if st := c.Stat(); st.Partial != 1 || st.Bytes != 9*blockSize {
		t.Errorf("%+v", st)
	}
	clock.Advance(pinFor)
	put(t, c, 3, data[:2*blockSize])
	if st := c.Stat(); st.Partial != 0 || st.Files != 1 {
		t.Logf("%+v", st)
	}
	list := files(t, c.Dir())
	if slices.Contains(list, partName(name(1))) || slices.Contains(list, name(1)+haveSuffix) {
		t.Errorf("%q", list)
	}
}

// Verify finds a damaged part, and removes the partial file.
func TestVerifyParts(t *testing.T) {
	c := openCache(t, t.TempDir(), newClock(), 0)
	data := body(10*blockSize + 5)
	storePart(t, c, 1, data, 0, 10)
	file := c.path(partName(name(1)))
	for _, at := range []int64{5 * blockSize, 10*blockSize + 4} { // a hole, and a part
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte{data[at] ^ 1}, at); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		bad, err := c.Verify(t.Context(), true)
		if want := at > 9*blockSize; err != nil || (len(bad) == 1) != want {
			t.Errorf("byte %d: %v, %v", at, bad, err)
		}
	}
	if _, err := c.Verify(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if list := files(t, c.Dir()); len(list) != 0 {
		t.Errorf("%q", list)
	}
}

// Two caches on one folder add parts to one file.
func TestTwoCachesOnePartialFile(t *testing.T) {
	dir, data := t.TempDir(), body(10*blockSize)
	a, b := openCache(t, dir, newClock(), 0), openCache(t, dir, newClock(), 0)
	h := storePart(t, a, 1, data, 1)
	if err := b.catchUp(); err != nil {
		t.Fatal(err)
	}
	other, ok := b.loadPart(partName(name(1)))
	if !ok || other.bytes != blockSize {
		t.Fatalf("%+v, %v", other, ok)
	}
	block := data[2*blockSize:][:blockSize]
	if err := b.writePart(h.entry.Name, block, 2*blockSize); err != nil {
		t.Fatal(err)
	}
	if err := b.keepPart(&other, 2, []uint32{crc32.Checksum(block, castagnoli)}); err != nil {
		t.Fatal(err)
	}
	if grown, gone := a.partGrown(&h); !grown || gone {
		t.Error("nothing seems to have come")
	}
	if again, ok := a.readHave(h.entry.Name); !ok || again.bytes != 2*blockSize {
		t.Errorf("%+v", again)
	}
	// One removes it, the other notices.
	if _, err := a.Clear(); err != nil {
		t.Fatal(err)
	}
	if err := b.keepPart(&other, 2, []uint32{0}); err != errPartGone {
		t.Errorf("%v", err)
	}
}

// FuzzHave reads hostile lists of parts: what is kept is in proportion, lies in
// the file, and survives being written again.
func FuzzHave(f *testing.F) {
	entry := &Entry{Name: partName(name(1)), URL: address(1), Whole: 5*blockSize + 1, ETag: `"1"`}
	good := appendSums(appendHaveLine(nil, &haveLine{Magic: partMagic, Entry: entry}), 1, []uint32{1, 2, 3})
	f.Add(good)
	f.Add(good[:len(good)-3])
	f.Add(appendSums(nil, 0, []uint32{7}))
	f.Add(appendSums(bytes.Clone(good), 1<<62, []uint32{7}))
	f.Add(appendHaveLine(nil, &haveLine{Magic: partMagic, Entry: &Entry{Name: partName(name(1)), Whole: 1 << 62}}))
	f.Add(appendHaveLine(nil, &haveLine{Magic: partMagic, Entry: &Entry{Name: "../x" + partSuffix, Whole: 1}}))
	f.Fuzz(func(t *testing.T, text []byte) {
		// Sums are made right, so that the fuzzer gets past them.
		var fixed []byte
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			fixed = append(fixed, '\n')
			if len(line) > 9 {
				line = append([]byte(crcText(line[9:])+" "), line[9:]...)
			}
			fixed = append(fixed, line...)
		}
		for _, text := range [][]byte{text, fixed} {
			h, ok := parseHave(text)
			if !ok {
				continue
			}
			if !h.entry.valid() || !isPart(h.entry.Name) || len(h.sums) > len(text)/8 {
				t.Fatalf("%+v", h.entry)
			}
			sum := int64(0)
			again := appendHaveLine(nil, &haveLine{Magic: partMagic, Entry: &h.entry})
			for _, b := range sortedBlocks(h.sums) {
				if b < 0 || b >= blocksOf(h.entry.Whole) {
					t.Fatalf("block %d of a file of %d bytes", b, h.entry.Whole)
				}
				sum += blockBytes(h.entry.Whole, b)
				again = appendSums(again, b, []uint32{h.sums[b]})
			}
			if sum != h.bytes || sum > h.entry.Whole {
				t.Fatalf("%d bytes, %d are counted", sum, h.bytes)
			}
			if x, ok := parseHave(again); !ok || x.bytes != h.bytes || len(x.sums) != len(h.sums) {
				t.Fatalf("written again: %+v", x)
			}
		}
	})
}

func crcText(b []byte) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(b))
}

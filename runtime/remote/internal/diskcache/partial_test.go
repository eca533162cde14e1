package diskcache

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/untoldkit/untold/runtime/remote/internal/remotetest"
)

// storePartial puts some blocks of a file into a cache.
func storePartial(t testing.TB, c *Cache, i int, data []byte, blocks ...int64) *Partial {
	t.Helper()
	p, err := c.CreatePartial(Entry{Name: name(i), URL: address(i), Whole: int64(len(data)), ETag: `"1"`}, func() {})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if err := addBlock(p, data, b); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// addBlock stores a block of a file.
func addBlock(p *Partial, data []byte, b int64) error {
	_, keep, err := p.Write(b, b+1, bytes.NewReader(data[b*BlockSize:]), make([]byte, pieceBytes))
	if err != nil {
		return err
	}
	return keep()
}

func openPartial(t testing.TB, c *Cache, i int) *Partial {
	t.Helper()
	p, ok := c.Partial(name(i), func() {})
	if !ok {
		t.Fatal("no parts are there")
	}
	return p
}

// Partial files are recovered as their lists say, whatever has happened to index
// and files.
func TestRecoveryOfParts(t *testing.T) {
	data := remotetest.Body(10 * BlockSize)
	for _, tt := range []struct {
		name  string
		spoil func(dir string) error
		size  int64 // of the entry afterwards, 0: none
	}{
		{"nothing", func(string) error { return nil }, 3 * BlockSize},
		{"no index", func(dir string) error { return os.Remove(filepath.Join(dir, indexName)) }, 3 * BlockSize},
		{"no data", func(dir string) error { return os.Remove(filepath.Join(dir, partialName(name(1)))) }, 0},
		{"no list", func(dir string) error { return os.Remove(filepath.Join(dir, name(1)+mapSuffix)) }, 0},
		{"a torn line", func(dir string) error {
			return os.Truncate(filepath.Join(dir, name(1)+mapSuffix), haveSize(dir)-1)
		}, 2 * BlockSize},
		{"no list and no index", func(dir string) error {
			os.Remove(filepath.Join(dir, indexName))
			return os.Remove(filepath.Join(dir, name(1)+mapSuffix))
		}, 0},
		{"the list of another file", func(dir string) error {
			return os.Rename(filepath.Join(dir, name(2)+mapSuffix), filepath.Join(dir, name(1)+mapSuffix))
		}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c, err := Open(dir, Options{NoSync: true, Now: newClock().Now})
			if err != nil {
				t.Fatal(err)
			}
			storePartial(t, c, 1, data, 0, 4, 9)
			storePartial(t, c, 2, data, 1)
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
			if err := tt.spoil(dir); err != nil {
				t.Fatal(err)
			}
			c = openCache(t, dir, newClock(), 0)
			e, ok := c.Peek(partialName(name(1)))
			if ok != (tt.size > 0) || e.Size != tt.size {
				t.Fatalf("%+v, %v", e, ok)
			}
			if ok {
				p := openPartial(t, c, 1)
				got := make([]byte, 100)
				if _, err := p.ReadAt(got, 4*BlockSize+7); err != nil || !bytes.Equal(got, data[4*BlockSize+7:][:100]) {
					t.Error(err)
				}
				// Lines after a torn one are not lost with it.
				if err := addBlock(p, data, 5); err != nil {
					t.Fatal(err)
				}
				if again := openPartial(t, c, 1); again.Stored() != tt.size+BlockSize {
					t.Errorf("%+v", again.Entry())
				}
			} else if list := remotetest.Files(t, dir); tt.name == "no list and no index" {
				// Nothing proves that the file is the cache's.
				if !slices.Contains(list, partialName(name(1))) {
					t.Errorf("gone: %q", list)
				}
			} else if slices.Contains(list, partialName(name(1))) || slices.Contains(list, name(1)+mapSuffix) {
				t.Errorf("left behind: %q", list)
			}
			if bad, err := c.Verify(t.Context(), true); len(bad) != 0 || err != nil {
				t.Errorf("%v, %v", bad, err)
			}
		})
	}
}

func haveSize(dir string) int64 {
	info, err := os.Stat(filepath.Join(dir, name(1)+mapSuffix))
	if err != nil {
		return 0
	}
	return info.Size()
}

// A partial file counts what it has, and is evicted as one.
func TestPartsAreEvictedAsOne(t *testing.T) {
	clock := newClock()
	c := openCache(t, t.TempDir(), clock, 10*BlockSize)
	data := remotetest.Body(100 * BlockSize)
	storePartial(t, c, 1, data, 3, 50, 7)
	clock.Advance(PinFor)
	put(t, c, 2, data[:6*BlockSize])
	if st := c.Stat(); st.Partial != 1 || st.Bytes != 9*BlockSize {
		t.Errorf("%+v", st)
	}
	clock.Advance(PinFor)
	put(t, c, 3, data[:2*BlockSize])
	if st := c.Stat(); st.Partial != 0 || st.Files != 1 {
		t.Logf("%+v", st)
	}
	list := remotetest.Files(t, c.Dir())
	if slices.Contains(list, partialName(name(1))) || slices.Contains(list, name(1)+mapSuffix) {
		t.Errorf("%q", list)
	}
}

// Verify finds a damaged part, and removes the partial file.
func TestVerifyParts(t *testing.T) {
	c := openCache(t, t.TempDir(), newClock(), 0)
	data := remotetest.Body(10*BlockSize + 5)
	storePartial(t, c, 1, data, 0, 10)
	file := c.Path(partialName(name(1)))
	for _, at := range []int64{5 * BlockSize, 10*BlockSize + 4} { // a hole, and a part
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
		if want := at > 9*BlockSize; err != nil || (len(bad) == 1) != want {
			t.Errorf("byte %d: %v, %v", at, bad, err)
		}
	}
	if _, err := c.Verify(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	if list := remotetest.Files(t, c.Dir()); len(list) != 0 {
		t.Errorf("%q", list)
	}
}

// Two caches on one folder add parts to one file.
func TestTwoCachesOnePartialFile(t *testing.T) {
	dir, data := t.TempDir(), remotetest.Body(10*BlockSize)
	a, b := openCache(t, dir, newClock(), 0), openCache(t, dir, newClock(), 0)
	mine := storePartial(t, a, 1, data, 1)
	if err := b.catchUp(); err != nil {
		t.Fatal(err)
	}
	theirs := openPartial(t, b, 1)
	if theirs.Stored() != BlockSize {
		t.Fatalf("%+v", theirs.Entry())
	}
	if err := addBlock(theirs, data, 2); err != nil {
		t.Fatal(err)
	}
	if mine.Refresh(); !mine.Has(1) || !mine.Has(2) || mine.Stored() != 2*BlockSize {
		t.Errorf("%d bytes", mine.Stored())
	}
	// One removes it, the other notices.
	if _, err := a.Clear(); err != nil {
		t.Fatal(err)
	}
	if err := addBlock(theirs, data, 3); !errors.Is(err, ErrGone) {
		t.Errorf("%v", err)
	}
	if _, err := mine.ReadAt(make([]byte, 10), BlockSize); !errors.Is(err, ErrNotHere) || mine.Stored() != 0 {
		t.Errorf("%v, %d bytes", err, mine.Stored())
	}
	// And begins anew.
	if complete, err := theirs.Prepare(3, 4); complete || err != nil {
		t.Error(complete, err)
	}
	if err := addBlock(theirs, data, 3); err != nil || theirs.Stored() != BlockSize {
		t.Errorf("%v, %d bytes", err, theirs.Stored())
	}
}

// A file whose blocks have all come gets its final name, unless its hash is not the
// declared one; a second Partial of it follows.
func TestCompletion(t *testing.T) {
	data := remotetest.Body(3*BlockSize + 5)
	for _, tt := range []struct {
		name, declared string
		damage         bool
	}{
		{name: "no hash is declared"},
		{name: "the declared hash", declared: remotetest.HashOf(data)},
		{name: "another hash", declared: remotetest.HashOf([]byte("other"))},
		{name: "a damaged block", declared: remotetest.HashOf(data), damage: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			c, beside := openCache(t, dir, newClock(), 0), openCache(t, dir, newClock(), 0)
			whole := 0
			p, err := c.CreatePartial(Entry{Name: name(1), URL: address(1), Whole: int64(len(data)), SHA256: tt.declared, ETag: `"1"`}, func() { whole++ })
			if err != nil {
				t.Fatal(err)
			}
			if err := addBlock(p, data, 2); err != nil {
				t.Fatal(err)
			}
			if err := beside.catchUp(); err != nil {
				t.Fatal(err)
			}
			theirs := openPartial(t, beside, 1)
			if err := p.Complete(); err != nil || whole != 0 {
				t.Errorf("completed with %d bytes: %v", p.Stored(), err)
			}
			for _, b := range []int64{0, 1, 3} {
				if err := addBlock(p, data, b); err != nil {
					t.Fatal(err)
				}
			}
			if tt.damage {
				damage(t, c.Path(partialName(name(1))))
			}
			err = p.Complete()
			var wrong *MismatchError
			switch _, there := c.Peek(name(1)); {
			case tt.damage:
				if !errors.Is(err, ErrNotHere) || !errors.Is(err, ErrCache) || p.Stored() != int64(len(data))-BlockSize || there {
					t.Errorf("%v, %d bytes", err, p.Stored())
				}
			case tt.declared != "" && tt.declared != remotetest.HashOf(data):
				if !errors.As(err, &wrong) || wrong.Got != remotetest.HashOf(data) || there || whole != 0 || len(remotetest.Files(t, dir)) != 0 {
					t.Errorf("%v, %q", err, remotetest.Files(t, dir))
				}
			default:
				if err != nil || !there || whole != 1 || remotetest.Text(t, c.Path(name(1))) != string(data) {
					t.Errorf("%v, %d", err, whole)
				}
				got := make([]byte, 10)
				if !theirs.TakeWhole() || !theirs.Has(0) {
					t.Error("the other one does not notice")
				} else if _, err := theirs.ReadAt(got, 7); err != nil || !bytes.Equal(got, data[7:17]) {
					t.Error(err)
				}
			}
		})
	}
}

// FuzzBlockMap reads hostile block maps: what is kept is in proportion, lies in the
// file, and survives being written again.
func FuzzBlockMap(f *testing.F) {
	entry := &Entry{Name: partialName(name(1)), URL: address(1), Whole: 5*BlockSize + 1, ETag: `"1"`}
	good := appendSums(appendMapLine(nil, &mapLine{Magic: mapMagic, Entry: entry}), 1, []uint32{1, 2, 3})
	f.Add(good)
	f.Add(good[:len(good)-3])
	f.Add(appendSums(nil, 0, []uint32{7}))
	f.Add(appendSums(bytes.Clone(good), 1<<62, []uint32{7}))
	f.Add(appendMapLine(nil, &mapLine{Magic: mapMagic, Entry: &Entry{Name: partialName(name(1)), Whole: 1 << 62}}))
	f.Add(appendMapLine(nil, &mapLine{Magic: mapMagic, Entry: &Entry{Name: "../x" + partialSuffix, Whole: 1}}))
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
			h, ok := parseMap(text)
			if !ok {
				continue
			}
			if !h.entry.valid() || !isPartial(h.entry.Name) || len(h.sums) > len(text)/8 {
				t.Fatalf("%+v", h.entry)
			}
			sum := int64(0)
			again := appendMapLine(nil, &mapLine{Magic: mapMagic, Entry: &h.entry})
			for _, b := range slices.Sorted(maps.Keys(h.sums)) {
				if b < 0 || b >= blocksOf(h.entry.Whole) {
					t.Fatalf("block %d of a file of %d bytes", b, h.entry.Whole)
				}
				sum += blockBytes(h.entry.Whole, b)
				again = appendSums(again, b, []uint32{h.sums[b]})
			}
			if sum != h.bytes || sum > h.entry.Whole {
				t.Fatalf("%d bytes, %d are counted", sum, h.bytes)
			}
			if x, ok := parseMap(again); !ok || x.bytes != h.bytes || len(x.sums) != len(h.sums) {
				t.Fatalf("written again: %+v", x)
			}
		}
	})
}

func crcText(b []byte) string {
	return fmt.Sprintf("%08x", crc32.ChecksumIEEE(b))
}

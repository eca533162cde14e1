package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
)

// A test's scene is a manifest, scene.json, that has the name of every other
// file on a line of its own.
func testScene(text string, names ...string) map[string]string {
	s := map[string]string{"scene.json": strings.Join(names, "\n")}
	for _, n := range names {
		s[n] = text + " " + n
	}
	return s
}

// see reads a scene as readers do; nil when there is none.
func see(t *testing.T, d *disk) map[string]string {
	t.Helper()
	list, err := Read(d, "scene.json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatalf("the manifest: %v", err)
	}
	out := map[string]string{"scene.json": string(list)}
	for n := range strings.SplitSeq(string(list), "\n") {
		b, err := Read(d, n)
		if err != nil {
			t.Fatalf("%s: %v", n, err)
		}
		out[n] = string(b)
	}
	return out
}

// testCook does what a cook does with the folder.
func testCook(d *disk, scene map[string]string) error {
	if _, err := Recover(d, nil); err != nil {
		return err
	}
	if list, err := d.ReadDir(Folder); err == nil {
		for _, e := range list {
			if IsStage(e.Name()) {
				if err := RemoveAll(d, Folder+"/"+e.Name()); err != nil {
					return err
				}
			}
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var removes []string
	old, err := readAll(d, "scene.json")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for n := range strings.SplitSeq(string(old), "\n") {
		if _, stays := scene[n]; n != "" && !stays {
			removes = append(removes, n)
		}
	}
	const stage = "cook-7"
	entries, err := testStage(d, stage, scene)
	committed := false
	if err == nil {
		committed, err = Publish(d, Change{Stage: stage, Files: entries, Removes: removes, Jobs: 1})
	}
	if !committed {
		_ = RemoveStage(d, stage)
	}
	return err
}

// testStage writes the files of a scene into a stage.
func testStage(d *disk, stage string, scene map[string]string) (entries []Entry, err error) {
	if err := MakeFolder(d); err != nil {
		return nil, err
	}
	if err := d.Mkdir(Folder + "/" + stage); err != nil {
		return nil, err
	}
	names := slices.Sorted(maps.Keys(scene))
	names = append(slices.DeleteFunc(names, func(n string) bool { return n == "scene.json" }), "scene.json")
	for _, n := range names {
		at := Folder + "/" + stage + "/" + n
		dirs := parents(at)
		slices.Reverse(dirs)
		for _, p := range dirs {
			if err := d.Mkdir(p); err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
		}
		f, err := d.Create(at)
		if err != nil {
			return nil, err
		}
		_, err = f.Write([]byte(scene[n]))
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		entries = append(entries, Entry{Path: n})
	}
	return entries, nil
}

// folders that the tests begin with: an old scene, none, and what is foreign.
var (
	foreignFiles = map[string]string{"notes.txt": "mine", "tiles/mine.untold": "mine", "tiles/Textures/mine.png": "mine"}
	oldScene     = testScene("old", "tiles/a.untold", "tiles/b.untold", "tiles/Textures/w.png", "tiles/Textures/gone.png", "deep/er/gone.untold")
	newScene     = testScene("newer", "tiles/a.untold", "tiles/b.untold", "tiles/c.untold", "tiles/Textures/w.png", "more/x.untold")
	thirdScene   = testScene("third", "tiles/a.untold", "tiles/d.untold")
)

func with(scenes ...map[string]string) map[string]string {
	out := map[string]string{}
	for _, s := range scenes {
		maps.Copy(out, s)
	}
	return out
}

// key tells states of a disk apart.
func (d *disk) key() string {
	var b strings.Builder
	for _, n := range slices.Sorted(maps.Keys(d.names)) {
		b.WriteString(n + "\x00" + string(d.data[d.names[n]]) + "\x00")
	}
	return b.String()
}

// crashes checks what stops leave.
type crashes struct {
	t        *testing.T
	random   *rand.Rand
	old, new map[string]string
	known    map[string]bool   // states whose future was checked
	seen     map[string]string // what which has said
	emptyToo bool              // an empty folder may be left
	stops    int
	states   int
}

// which says whether the old scene is to be seen, or the new one.
func (c *crashes) which(d *disk, when string) string {
	c.t.Helper()
	key := d.key()
	if is, ok := c.seen[key]; ok {
		return is
	}
	is := c.look(d, when)
	c.seen[key] = is
	return is
}

func (c *crashes) look(d *disk, when string) string {
	c.t.Helper()
	got := see(c.t, d)
	switch {
	case maps.Equal(got, c.old):
		return "old"
	case maps.Equal(got, c.new):
		for n := range c.old {
			if _, stays := c.new[n]; !stays {
				if _, err := Read(d, n); !errors.Is(err, fs.ErrNotExist) {
					c.t.Errorf("%s: %s of the old scene is still to be seen: %v", when, n, err)
				}
			}
		}
		return "new"
	}
	c.t.Fatalf("%s: neither the old scene nor the new one: %v\n%s", when, got, d.key())
	return ""
}

// future checks a state that a stop has left: it is one of the scenes, a
// recovery that stops anywhere keeps it so, and the next cook leaves nothing
// but its scene.
func (c *crashes) future(d *disk, when string) string {
	c.t.Helper()
	is := c.which(d, when)
	key := d.key()
	if c.known[key] {
		return is
	}
	c.known[key] = true
	c.states++
	for stop := 1; ; stop++ {
		r := d.restart(losses(c.random)[0])
		r.stopAt = stop
		_, err := Recover(r, nil)
		c.stops++
		for _, l := range losses(c.random) {
			s := r.restart(l)
			at := fmt.Sprintf("%s; then the recovery stops at call %d, %s", when, stop, l.name)
			if got := c.which(s, at); got != is {
				c.t.Fatalf("%s: the %s scene has become the %s one", at, is, got)
			}
			c.ends(s, at)
		}
		if !errors.Is(err, errStopped) {
			if err != nil {
				c.t.Fatalf("%s: recovery: %v", when, err)
			}
			break
		}
	}
	c.ends(d.restart(losses(c.random)[0]), when)
	return is
}

// ends cooks once more and looks at every file.
func (c *crashes) ends(d *disk, when string) {
	c.t.Helper()
	key := "end " + d.key()
	if c.known[key] {
		return
	}
	c.known[key] = true
	if err := testCook(d, thirdScene); err != nil {
		c.t.Fatalf("%s: the next cook: %v", when, err)
	}
	if got, want := d.files(), with(foreignFiles, thirdScene); !maps.Equal(got, want) {
		c.t.Fatalf("%s: after the next cook there are %v, want %v", when, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	for _, dir := range []string{Folder, "deep", "deep/er", "more"} {
		if _, left := d.names[dir]; left && !c.emptyToo {
			c.t.Fatalf("%s: after the next cook there is a folder %s", when, dir)
		}
	}
}

// TestStops stops a cook at every single call and takes away what was not
// flushed, in several ways; stops what follows again at every call.
func TestStops(t *testing.T) {
	for name, old := range map[string]map[string]string{"over an old scene": oldScene, "first cook": nil} {
		t.Run(name, func(t *testing.T) {
			c := &crashes{t: t, random: rand.New(rand.NewSource(1)), old: old, new: newScene, known: map[string]bool{}, seen: map[string]string{}}
			seen := map[string]bool{}
			for stop := 1; ; stop++ {
				d := newDisk(with(foreignFiles, old))
				d.stopAt = stop
				err := testCook(d, newScene)
				c.stops++
				for _, l := range losses(c.random) {
					when := fmt.Sprintf("stop at call %d (%s), %s", stop, d.trace[len(d.trace)-1], l.name)
					is := c.future(d.restart(l), when)
					seen[is] = true
					if err == nil && is != "new" {
						t.Fatalf("%s: the cook was done, but the %s scene is there", when, is)
					}
				}
				if err == nil {
					break
				}
			}
			if !seen["old"] || !seen["new"] {
				t.Errorf("seen: %v", seen)
			}
			t.Logf("%d stops, %d states", c.stops, c.states)
		})
	}
}

// TestFaults lets every single call fail, before or after its work. The cook
// ends in order then: it says so, one of the scenes is there, and nothing but
// what a commit needs is left behind.
func TestFaults(t *testing.T) {
	c := &crashes{t: t, random: rand.New(rand.NewSource(3)), old: oldScene, new: newScene, known: map[string]bool{}, seen: map[string]string{}}
	for _, late := range []bool{false, true} {
		for n := 1; ; n++ {
			d := newDisk(with(foreignFiles, oldScene))
			d.failAt, d.late = n, late
			err := testCook(d, newScene)
			if d.calls < n {
				break
			}
			when := fmt.Sprintf("call %d fails (%s), late %v: %v", n, d.trace[n-1], late, err)
			// A folder that cannot be removed stays.
			c.emptyToo = strings.HasPrefix(d.trace[n-1], "remove")
			is := c.which(d, when)
			switch {
			case err == nil && is != "new", err != nil && !errors.Is(err, errFault):
				t.Fatalf("%s: the %s scene", when, is)
			case (is == "new") != (err == nil || errors.Is(err, ErrUnfinished)):
				t.Fatalf("%s: the %s scene", when, is)
			}
			if _, left := d.names[Folder]; left && is == "old" && !strings.Contains(d.trace[n-1], "remove") {
				t.Errorf("%s: something is left behind: %s", when, d.key())
			}
			for _, l := range losses(c.random) {
				if got := c.future(d.restart(l), when+"; "+l.name); is == "new" && err == nil && got != "new" {
					t.Fatalf("%s; %s: the scene is lost", when, l.name)
				}
			}
		}
	}
}

// TestManyStops takes random subsets of what was not flushed, of random scenes,
// through several stops in a row.
func TestManyStops(t *testing.T) {
	random := rand.New(rand.NewSource(7))
	scene := func(k int) map[string]string {
		var names []string
		for i := range 6 {
			if random.Intn(2) == 0 {
				names = append(names, fmt.Sprintf("tiles/%c.untold", 'a'+i))
			}
		}
		return testScene(fmt.Sprint("scene ", k), append(names, "tiles/Textures/w.png")...)
	}
	for round := range 300 {
		known := []map[string]string{scene(0)}
		d := newDisk(with(foreignFiles, known[0]))
		for k := 1; k <= 5; k++ {
			next := scene(k)
			before := see(t, d)
			d.stopAt = d.calls + 1 + random.Intn(160)
			err := testCook(d, next)
			d = d.restart(losses(random)[random.Intn(7)])
			got := see(t, d)
			if !maps.Equal(got, before) && !maps.Equal(got, next) || err == nil && !maps.Equal(got, next) {
				t.Fatalf("round %d, cook %d: %v", round, k, got)
			}
		}
		if err := testCook(d, thirdScene); err != nil || !maps.Equal(d.files(), with(foreignFiles, thirdScene)) {
			t.Fatalf("round %d: %v %v", round, err, d.files())
		}
	}
}

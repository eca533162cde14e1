package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/untoldkit/untold/runtime/config"
	"github.com/untoldkit/untold/runtime/payload"
)

// queueWorld stands for the loaders and the fetcher of a queue: it notes what
// they are asked for.
type queueWorld struct{ asked []string }

func (w *queueWorld) Start(req payload.Request) { w.note("parse", req) }
func (w *queueWorld) Fetch(req payload.Request) { w.note("fetch", req) }

func (w *queueWorld) LoadParts(req payload.Request, meshes []int) {
	w.note(fmt.Sprint("parts", meshes), req)
}

func (w *queueWorld) note(what string, req payload.Request) {
	w.asked = append(w.asked, fmt.Sprintf("%s %d %s", what, req.Token, req.Key.Rep))
}

// A queueTest is a queue of its own over three tiles with an HLOD.
type queueTest struct {
	*queueWorld
	*loadQueue
	scene *scene
	over  []string
}

func newQueueTest(t *testing.T, fetches bool) *queueTest {
	cfg := config.Default()
	cfg.MaxConcurrentTileLoads, cfg.MaxConcurrentHLODLoads, cfg.TileParseMemoryBudgetMB = 2, 1, 3
	e, sc := partEnv(t, &cfg, tileAt("a", face(0), hlodAt(50)), tileAt("b", face(20), hlodAt(50)), tileAt("c", face(40), hlodAt(50)))
	w := &queueWorld{}
	var f payload.Fetcher
	if fetches {
		f = w
	}
	return &queueTest{w, newLoadQueue(context.Background(), e, w, f, nil), sc, nil}
}

// load sends the load of a tile.
func (q *queueTest) load(tile int32, rep payload.Rep) uint64 {
	l := q.request(q.scene.activate(tile), rep, 1, nil)
	if rep == payload.RepFull {
		l.memory = q.scene.tiles.memory[tile]
	}
	q.send(l)
	return l.request.Token
}

// drain takes the answers and notes what has ended.
func (q *queueTest) drain() {
	q.take(func(l load, res *payload.Result) { q.end(l, res.Err) })
}

func (q *queueTest) end(l load, err error) {
	s := fmt.Sprint(l.request.Token)
	if err != nil {
		s += " " + err.Error()
	}
	if l.orphan {
		s += " orphan"
	}
	if l.record() == nil {
		s += " gone"
	}
	q.over = append(q.over, s)
}

func (q *queueTest) check(t *testing.T, asked, over string) {
	t.Helper()
	if got := strings.Join(q.asked, "; "); got != asked {
		t.Errorf("asked for %s\nwant %s", got, asked)
	}
	if got := strings.Join(q.over, "; "); got != over {
		t.Errorf("over: %s\nwant: %s", got, over)
	}
}

func TestLoadQueue(t *testing.T) {
	fail := errors.New("broken")
	for _, c := range []struct {
		name    string
		fetches bool
		do      func(q *queueTest)
		asked   string
		over    string
		full    int // free slots afterwards
		hlod    int
	}{
		{"each class has its slots", false, func(q *queueTest) {
			q.load(0, payload.RepFull)
			q.load(1, payload.RepHLOD)
		}, "parse 1 full; parse 2 hlod", "", 1, 0},
		{"answers end loads in the order of their tokens", false, func(q *queueTest) {
			q.load(0, payload.RepFull)
			q.load(1, payload.RepFull)
			q.completions.Loaded(2, payload.Result{})
			q.completions.Loaded(1, payload.Result{Err: fail})
			q.drain()
		}, "parse 1 full; parse 2 full", "1 broken; 2", 2, 1},
		{"second and unknown answers are dropped", false, func(q *queueTest) {
			q.load(0, payload.RepFull)
			q.completions.Loaded(1, payload.Result{})
			q.completions.Loaded(9, payload.Result{})
			q.drain()
			q.completions.Loaded(1, payload.Result{})
			q.drain()
		}, "parse 1 full", "1", 2, 1},
		{"what was fetched waits for a slot and memory", true, func(q *queueTest) {
			for tile := range int32(3) {
				q.load(tile, payload.RepFull)
				q.completions.Fetched(uint64(tile+1), payload.Fetched{File: "x"}, nil)
			}
			q.scene.tiles.memory[1] = 9 * mib
			q.drain()
			q.promote()
			q.completions.Loaded(1, payload.Result{})
			q.drain()
			q.promote()
		}, "fetch 1 full; fetch 2 full; fetch 3 full; parse 1 full; parse 2 full; parse 3 full", "1", maxFetches, maxFetches},
		{"a failed fetch is over", true, func(q *queueTest) {
			q.load(0, payload.RepHLOD)
			q.completions.Fetched(1, payload.Fetched{}, fail)
			q.drain()
		}, "fetch 1 hlod", "1 broken", maxFetches, maxFetches},
		{"an orphan keeps its slot until it is answered", false, func(q *queueTest) {
			q.load(0, payload.RepFull)
			q.load(1, payload.RepFull)
			if l, over := q.giveUp(1); over || l.request.Context.Err() == nil {
				panic("a worker has it")
			}
			q.completions.Loaded(1, payload.Result{})
			q.drain()
		}, "parse 1 full; parse 2 full", "1 orphan", 1, 1},
		{"what waits is given up at once", true, func(q *queueTest) {
			q.load(0, payload.RepFull)
			q.completions.Fetched(1, payload.Fetched{File: "x"}, nil)
			q.drain()
			if _, over := q.giveUp(1); !over {
				panic("nobody has it")
			}
			q.promote()
		}, "fetch 1 full", "", maxFetches, maxFetches},
		{"a scene that is gone leaves its slots taken", false, func(q *queueTest) {
			q.load(0, payload.RepFull)
			q.abandon(q.scene)
			q.completions.Loaded(1, payload.Result{})
			q.drain()
			q.load(1, payload.RepFull)
		}, "parse 1 full; parse 2 full", "1 orphan gone", 1, 1},
		{"the watchdog ends what is late", false, func(q *queueTest) {
			q.load(0, payload.RepFull)
			q.now += seconds(q.cfg.TileParseTimeoutSeconds)
			q.load(1, payload.RepHLOD)
			q.expire(func(l load) { q.end(l, ErrTimeout) })
			q.now += time.Second
			q.expire(func(l load) { q.end(l, ErrTimeout) })
			q.completions.Loaded(1, payload.Result{})
			q.drain()
		}, "parse 1 full; parse 2 hlod", "1 " + ErrTimeout.Error(), 2, 0},
		{"parts take no slot, and end with the last stub", false, func(q *queueTest) {
			l := q.request(q.scene.activate(0), payload.RepFull, 1, nil)
			q.sendParts(l, q, []int32{3, 4}, []int{7}, 100)
			q.giveUpStub(1)
			if l.orphan {
				panic("somebody waits")
			}
			q.giveUpStub(1)
			q.completions.Loaded(1, payload.Result{})
			q.drain()
		}, "parts[7] 1 full", "1 orphan", 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := newQueueTest(t, c.fetches)
			c.do(q)
			q.check(t, c.asked, c.over)
			if got := [2]int{q.freeSlots(classFull), q.freeSlots(classHLOD)}; got != [2]int{c.full, c.hlod} {
				t.Errorf("free slots %v, want %v", got, [2]int{c.full, c.hlod})
			}
		})
	}
}

// One tile may always be parsed, others only beside those under way.
func TestLoadQueueParseMemory(t *testing.T) {
	q := newQueueTest(t, false)
	fits := []bool{q.fitsParse(99 * mib)}
	q.load(0, payload.RepFull) // 1 MiB of 3
	fits = append(fits, q.fitsParse(2*mib), q.fitsParse(2*mib+1))
	if !slices.Equal(fits, []bool{true, true, false}) {
		t.Errorf("fits: %v", fits)
	}
}

// What is declared counts when it is asked for, and when it has come.
func TestLoadQueueCounts(t *testing.T) {
	q := newQueueTest(t, false)
	q.load(0, payload.RepFull)
	q.completions.Loaded(1, payload.Result{})
	q.completions.Loaded(5, payload.Result{})
	q.take(func(l load, res *payload.Result) { q.countLoaded(&l, res) })
	if want := (loadCounters{stale: 1, bytesRequested: mib, bytesLoaded: mib}); q.count != want {
		t.Errorf("counted %+v, want %+v", q.count, want)
	}
	q.loadQueue.close()
	if len(q.list) != 0 {
		t.Errorf("%d loads left", len(q.list))
	}
}

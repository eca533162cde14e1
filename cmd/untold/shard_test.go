package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/internal/testfile"
)

// TestParseShard: the shard as it is said, or as the environment of an array task says it.
func TestParseShard(t *testing.T) {
	for _, c := range []struct {
		text string
		env  string // NAME=VALUE, separated by blanks
		want cook.Shard
		err  string
	}{
		{"0/1", "", cook.Shard{Index: 0, Count: 1}, ""},
		{"6/7", "", cook.Shard{Index: 6, Count: 7}, ""},
		{"7/7", "", cook.Shard{}, "neither"},
		{"-1/7", "", cook.Shard{}, "neither"},
		{"1", "", cook.Shard{}, "neither"},
		{"a/b", "", cook.Shard{}, "neither"},
		{"auto", "", cook.Shard{}, "array task"},
		{"auto", "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=8 SLURM_ARRAY_TASK_MIN=1", cook.Shard{Index: 2, Count: 8}, ""},
		{"auto", "SLURM_ARRAY_TASK_ID=14 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=2", cook.Shard{Index: 2, Count: 3}, ""},
		{"auto", "SLURM_ARRAY_TASK_ID=13 SLURM_ARRAY_TASK_COUNT=3 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_STEP=2", cook.Shard{}, "multiple"},
		{"auto/8", "SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=1", cook.Shard{Index: 3, Count: 8}, ""}, // one task run again
		{"auto", "SLURM_ARRAY_TASK_ID=9 SLURM_ARRAY_TASK_COUNT=2", cook.Shard{}, "none of 2"},
		{"auto", "SLURM_ARRAY_TASK_ID=x SLURM_ARRAY_TASK_COUNT=2", cook.Shard{}, "no number"},
		{"auto", "AWS_BATCH_JOB_ARRAY_INDEX=0 AWS_BATCH_JOB_ARRAY_SIZE=4", cook.Shard{Index: 0, Count: 4}, ""},
		{"auto", "JOB_COMPLETION_INDEX=2", cook.Shard{}, "UNTOLD_SHARDS"},
		{"auto", "JOB_COMPLETION_INDEX=2 UNTOLD_SHARDS=5", cook.Shard{Index: 2, Count: 5}, ""},
		{"auto/6", "JOB_COMPLETION_INDEX=2", cook.Shard{Index: 2, Count: 6}, ""},
	} {
		env := map[string]string{}
		for _, v := range strings.Fields(c.env) {
			name, value, _ := strings.Cut(v, "=")
			env[name] = value
		}
		got, err := parseShard(c.text, func(name string) string { return env[name] })
		if c.err == "" && (err != nil || got != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q with %q: %+v, %v", c.text, c.env, got, err)
		}
	}
}

// TestCookInShards: shards put their tiles into a store, in which the last cook finds all,
// and untold store looks after it.
func TestCookInShards(t *testing.T) {
	cookInShards(t, nil, filepath.Join(t.TempDir(), "store"))
}

// TestCookWithABucket is the same with a store in a bucket.
func TestCookWithABucket(t *testing.T) {
	_, env := fakeBucket(t, nil)
	cookInShards(t, env, "s3://scenes/stores/town")
}

// TestCookWithAServer runs against the real server of scripts/test-s3.sh.
func TestCookWithAServer(t *testing.T) {
	address := os.Getenv("UNTOLD_TEST_S3")
	if address == "" {
		t.Skip("UNTOLD_TEST_S3 names no bucket: make test-s3")
	}
	cookInShards(t, nil, address)
}

// TestCookByPlan: what --dry-run --plan writes is followed by shards and by the last cook,
// which leave it as it is; a plan of other flags is refused. Flags of the last cook that say
// nothing of a plan may stand there, as those of a farm hold for all steps.
func TestCookByPlan(t *testing.T) {
	scene := testfile.Write(t, filepath.Join(t.TempDir(), "town.gltf"), boxScene(300))
	dir := t.TempDir()
	plan, place := filepath.Join(dir, "town.plan"), filepath.Join(dir, "store")
	run := func(code int, args ...string) result {
		t.Helper()
		r := execute(t, nil, append([]string{"cook", scene, "-q"}, args...)...)
		if r.code != code {
			t.Fatalf("%q: exit %d, not %d: %s%s", args, r.code, code, r.stdout, r.err)
		}
		return r
	}
	run(0, "--tile-size", "8", "-o", filepath.Join(dir, "one"))
	if r := run(0, "--tile-size", "8", "--store", place, "--dry-run", "--plan", plan, "--explain", "tile_0_0_0"); !strings.Contains(r.stdout, "planned "+plan) {
		t.Error(r.stdout)
	}
	written := testfile.Read(t, plan)
	run(0, "--tile-size", "8", "--store", place, "--shard", "0/2", "--plan", plan)
	if r := run(0, "--tile-size", "8", "--store", place, "--shard", "1/2", "--plan", plan); !strings.Contains(r.stdout, "of the scene were read") {
		t.Error(r.stdout)
	}
	run(0, "--tile-size", "8", "--store", place, "--require-store", "--plan", plan, "-o", filepath.Join(dir, "two"))
	if d := cmp.Diff(testfile.ReadTree(t, filepath.Join(dir, "one")), testfile.ReadTree(t, filepath.Join(dir, "two"))); d != "" {
		t.Errorf("%.500s", d)
	}
	if !bytes.Equal(written, testfile.Read(t, plan)) {
		t.Error("the plan was written to")
	}
	if r := run(2, "--tile-size", "9", "--store", place, "--shard", "0/2", "--plan", plan); !strings.Contains(r.err, "other settings: TileSize") {
		t.Error(r.err)
	}
	testfile.Write(t, plan, "a plan")
	if r := run(2, "--tile-size", "8", "--dry-run", "--plan", plan); !strings.Contains(r.err, "another file already") {
		t.Error(r.err)
	}
}

func cookInShards(t *testing.T, env []string, place string) {
	t.Helper()
	scene := testfile.Write(t, filepath.Join(t.TempDir(), "town.gltf"), boxScene(300))
	dir := t.TempDir()
	run := func(code int, args ...string) result {
		t.Helper()
		r := execute(t, env, args...)
		if r.code != code {
			t.Fatalf("%q: exit %d, not %d: %s%s", args, r.code, code, r.stdout, r.err)
		}
		return r
	}
	cookArgs := func(more ...string) []string {
		return append([]string{"cook", scene, "--tile-size", "8", "-q"}, more...)
	}
	run(0, cookArgs("-o", filepath.Join(dir, "one"))...)
	run(0, cookArgs("--store", place, "--shard", "1/2")...)
	if r := run(2, cookArgs("--store", place, "--require-store", "-o", filepath.Join(dir, "x"))...); !strings.Contains(r.err, "not in the store") {
		t.Error(r.err)
	}
	run(0, cookArgs("--store", place, "--shard", "0/2")...)
	if r := run(0, cookArgs("--store", place, "--require-store", "-o", filepath.Join(dir, "two"))...); !strings.Contains(r.stdout, "taken from") {
		t.Error(r.stdout)
	}
	one, two := testfile.ReadTree(t, filepath.Join(dir, "one")), testfile.ReadTree(t, filepath.Join(dir, "two"))
	for name := range one {
		if one[name] != two[name] {
			t.Errorf("%s differs", name)
		}
	}
	if len(one) != len(two) || len(one) < 3 {
		t.Errorf("%d files, %d from shards", len(one), len(two))
	}
	run(0, "store", "stat", place)
	run(0, "store", "verify", place)
	if !strings.HasPrefix(place, "s3://") {
		for name, text := range testfile.ReadTree(t, place) {
			if strings.Contains(name, "/files/") {
				testfile.Write(t, filepath.Join(place, name), text+"x")
				break
			}
		}
		if r := run(1, "store", "verify", place, "--json"); !strings.Contains(r.stdout, "damaged-file") {
			t.Error(r.stdout)
		}
	}
	run(2, "store", "gc", place)
	if r := run(0, "store", "gc", place, "--max-size", "1", "--dry-run"); !strings.Contains(r.stdout, "would be removed") || !strings.Contains(r.stdout, "put within the last hour") {
		t.Error(r.stdout)
	}
	for _, bad := range [][]string{
		cookArgs("--shard", "0/2"),
		cookArgs("--shard", "0/2", "--store", place, "-o", dir),
		cookArgs("--shard", "0/2", "--store", place, "--require-store"),
		cookArgs("--shard", "0/2", "--store", place, "--dry-run"),
		cookArgs("--shard", "0/2", "--store", place, "--report", filepath.Join(dir, "report.json")),
		cookArgs("--require-store", "-o", dir),
	} {
		run(2, bad...)
	}
}

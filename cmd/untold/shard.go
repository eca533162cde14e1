package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/internal/human"
)

// shardsVariable says how many shards there are where the environment of an array task
// does not.
const shardsVariable = "UNTOLD_SHARDS"

// parseShard reads I/N, or auto, which asks the environment of an array task.
func parseShard(text string, getenv func(string) string) (cook.Shard, error) {
	index, count, ok := strings.Cut(text, "/")
	if index == "auto" {
		if !ok {
			count = ""
		}
		return shardOfTask(count, getenv)
	}
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(count)
	if !ok || err1 != nil || err2 != nil || n < 1 || i < 0 || i >= n {
		return cook.Shard{}, fmt.Errorf("%q is neither I/N, with I from 0 to N-1, nor auto", text)
	}
	return cook.Shard{Index: i, Count: n}, nil
}

// arrayTask is how a system tells a task of an array its number.
type arrayTask struct {
	index, count, first, step string // variables; "" is none
}

// arrayTasks are those of Slurm, AWS Batch and Kubernetes, which does not say how many
// there are.
var arrayTasks = []arrayTask{
	{"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_STEP"},
	{"AWS_BATCH_JOB_ARRAY_INDEX", "AWS_BATCH_JOB_ARRAY_SIZE", "", ""},
	{"JOB_COMPLETION_INDEX", "", "", ""},
}

func shardOfTask(count string, getenv func(string) string) (cook.Shard, error) {
	for _, t := range arrayTasks {
		if getenv(t.index) == "" {
			continue
		}
		number := func(name, other string) (int, error) {
			text := other
			if name != "" && getenv(name) != "" {
				text = getenv(name)
			}
			n, err := strconv.Atoi(text)
			if err != nil {
				return 0, fmt.Errorf("%s is %q, which is no number", name, text)
			}
			return n, nil
		}
		if count == "" {
			if count = getenv(shardsVariable); t.count != "" && getenv(t.count) != "" {
				count = getenv(t.count)
			}
		}
		if count == "" {
			return cook.Shard{}, fmt.Errorf("%s says which shard this is, and nothing how many there are: set %s, or say auto/N", t.index, shardsVariable)
		}
		index, err1 := number(t.index, "")
		first, err2 := number(t.first, "0")
		step, err3 := number(t.step, "1")
		n, err4 := strconv.Atoi(count)
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			return cook.Shard{}, err
		}
		if step < 1 || (index-first)%step != 0 {
			return cook.Shard{}, fmt.Errorf("%s is %d, which is not %d and a multiple of %d", t.index, index, first, step)
		}
		s := cook.Shard{Index: (index - first) / step, Count: n}
		if s.Index < 0 || s.Index >= n {
			return s, fmt.Errorf("%s is %d, which is none of %d shards from %d on", t.index, index, n, first)
		}
		return s, nil
	}
	return cook.Shard{}, errors.New("auto asks the environment of an array task (Slurm, AWS Batch, Kubernetes), and this is none: say I/N")
}

// runShard makes a share of a scene's tiles.
func (c *cookFlags) runShard(cmd *cobra.Command, a *app, scene string) error {
	switch {
	case c.store == "":
		return errors.New("--shard puts what it makes into a store: add --store")
	case source(cmd.Flags(), "output") == fromCommandLine:
		return errors.New("--shard writes nothing but to the store: leave -o out, and cook once more with -o when all shards have ended")
	case c.plan != "" && !followed(c.plan) && source(cmd.Flags(), "plan") == fromCommandLine:
		return fmt.Errorf("--plan %s: a shard follows a .plan file, which cook --dry-run --plan FILE.plan writes", c.plan)
	case source(cmd.Flags(), "report") == fromCommandLine ||
		source(cmd.Flags(), "also") == fromCommandLine || source(cmd.Flags(), "fail-if") == fromCommandLine || c.opts.DryRun:
		return errors.New("--shard goes with neither --dry-run, --report, --also nor --fail-if: they are for the last cook")
	case source(cmd.Flags(), "require-store") == fromCommandLine:
		return errors.New("--shard makes what the store has not, and --require-store forbids that: it is for the last cook")
	}
	// Settings of the environment and of files are for the last cook as well.
	c.out, c.report, c.also, c.opts.RequireStore = "", "", nil, false
	if followed(c.plan) {
		c.opts.Plan = c.plan
	}
	shard, err := parseShard(c.shard, os.Getenv)
	if err != nil {
		return fmt.Errorf("--shard: %w", err)
	}
	if err := c.resolve(cmd, a); err != nil {
		return err
	}
	if a.flagsOnly {
		a.flagsJudged = true
		return nil
	}
	if c.opts.Store, err = openStore(cmd, c.store); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	defer collectWithin(c.opts.Memory)()
	res, err := cook.RunShard(cmd.Context(), scene, shard, c.opts)
	if err != nil {
		return err
	}
	a.notes(res.Notes)
	if c.asJSON {
		return writeJSON(a.stdout, res)
	}
	_, err = fmt.Fprintf(a.stdout, "shard %d of %d: %s of %d made, %d in the store already; %s of the scene were read\n", shard.Index, shard.Count,
		human.Plural(res.Share-res.Reused, "tile"), res.Payloads, res.Reused, human.Bytes(res.Read))
	return err
}

package farm

import (
	"fmt"
	"strconv"
	"strings"
)

// Lines are the shards as lines for a shell, in any order and on any machines, the line of
// the plan, which comes before them, "" for none, and the line that comes when all have
// ended. CPUs are given to shards; AtOnce, Memory, Time and
// Name have no say.
func Lines(j Job) (plan string, shards []string, last string, err error) {
	if err := j.check(); err != nil {
		return "", nil, "", err
	}
	if j.Plan != "" {
		plan = Line(j.plan()...)
	}
	for i := range j.Shards {
		shards = append(shards, Line(append(j.shard(j.numbered(i)), "--jobs", strconv.Itoa(j.CPUs))...))
	}
	return plan, shards, Line(j.last()...), nil
}

// Shell is a script for sh that runs all shards beside each other on this machine and then
// the last cook, which may use all processors.
func Shell(j Job) (string, error) {
	plan, shards, last, err := Lines(j)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\n" + j.header())
	first := ""
	if plan != "" {
		first = "\n# The scene is planned once, for all of them.\n" + plan + " || exit\n"
	}
	fmt.Fprintf(&b, `
# All %d shards run at once on this machine; then one cook takes them together. Run it again
# after a failure: what the store has is not made again.
set -u
%s
pids=
trap 'trap "" INT TERM HUP; kill $pids; wait; exit 1' INT TERM HUP
`, j.Shards, first)
	for _, line := range shards {
		b.WriteString(line + " &\npids=\"$pids $!\"\n")
	}
	b.WriteString(`
lost=0
for pid in $pids; do
	wait "$pid" || lost=$((lost + 1))
	pids=${pids#" $pid"}
done
trap - INT TERM HUP
`)
	if j.RequireStore {
		fmt.Fprintf(&b, `if [ "$lost" -gt 0 ]; then
	echo "$lost of %d shards failed; nothing was written" >&2
	exit 1
fi
`, j.Shards)
	} else {
		fmt.Fprintf(&b, `if [ "$lost" -gt 0 ]; then
	echo "$lost of %d shards failed; the last cook makes what they have not" >&2
fi
`, j.Shards)
	}
	b.WriteString("exec " + last + "\n")
	return b.String(), nil
}

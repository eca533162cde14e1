#!/bin/sh
# untold farm shell city.glb -o out/city --shards 4 --store out/store -- --tile-size 50

# All 4 shards run at once on this machine; then one cook takes them together. Run it again
# after a failure: what the store has is not made again.
set -u

# The scene is planned once, for all of them.
untold cook city.glb --store out/store --dry-run --plan out/city.plan --tile-size 50 || exit

pids=
trap 'trap "" INT TERM HUP; kill $pids; wait; exit 1' INT TERM HUP
untold cook city.glb --store out/store --shard 0/4 --plan out/city.plan --tile-size 50 --jobs 1 &
pids="$pids $!"
untold cook city.glb --store out/store --shard 1/4 --plan out/city.plan --tile-size 50 --jobs 1 &
pids="$pids $!"
untold cook city.glb --store out/store --shard 2/4 --plan out/city.plan --tile-size 50 --jobs 1 &
pids="$pids $!"
untold cook city.glb --store out/store --shard 3/4 --plan out/city.plan --tile-size 50 --jobs 1 &
pids="$pids $!"

lost=0
for pid in $pids; do
	wait "$pid" || lost=$((lost + 1))
	pids=${pids#" $pid"}
done
trap - INT TERM HUP
if [ "$lost" -gt 0 ]; then
	echo "$lost of 4 shards failed; the last cook makes what they have not" >&2
fi
exec untold cook city.glb -o out/city --store out/store --plan out/city.plan --tile-size 50

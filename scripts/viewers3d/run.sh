#!/bin/sh
# Shows scenes in viewers of 3D Tiles: cooks and exports the demo city, serves it, and takes
# pictures of it in 3d-tiles-renderer and CesiumJS, in a browser without a window. Prints what
# each viewer loaded; ends with 1 when one reports an error. Takes minutes: it draws in
# software. Run it from the top of the repository, after `make build`:
#
#   sh scripts/viewers3d/run.sh [folder for modules and pictures]
#
# It needs node with npm, and Chromium (CHROMIUM names it); on Debian: apt-get install chromium
# nodejs npm.
set -eu

dir=${1:-out/viewers3d}
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/modules.sh" "$dir"
dir=$(cd "$dir" && pwd)

[ -f "$dir/city.glb" ] || go run ./scripts/gen -o "$dir/city.glb"
bin/untold cook "$dir/city.glb" -o "$dir/city" --pyramid
bin/untold export "$dir/city" --format 3dtiles -o "$dir/tileset"

bin/untold serve "$dir" --addr 127.0.0.1:0 >"$dir/serve.out" 2>"$dir/serve.err" &
server=$!
trap 'kill $server' EXIT
while ! grep -q http "$dir/serve.out"; do
	kill -0 $server || { cat "$dir/serve.err" >&2; exit 1; }
	sleep 0.1
done
url=$(grep -o 'http://[0-9.:]*' "$dir/serve.out" | head -n 1)

job() { printf '{"name":"city","viewer":"%s","tileset":"%s/tileset/tileset.json","eye":"300,120,260","target":"120,10,40","out":"%s/%s.png"}' "$1" "$url" "$dir" "$1"; }
echo "[$(job three),$(job cesium)]" >"$dir/jobs.json"
cd "$dir" && node "$here/capture.mjs" jobs.json

#!/bin/sh
# Frame times of a flight through a cooked scene, on the GPU that EGL finds:
#
#   scripts/frametimes.sh out/city/city.json [flags of untold preview ...]
#
# Four runs: with all that OpenGL has, without shadows, in plain OpenGL 4.1, and
# as fast as frames can be drawn, which keeps the GPU's clocks up. Each prints
# its figures and its longest frames by parts. UNTOLD is the program (default
# bin/untold), SPEED the metres per second (60), SIZE the picture (1280x720),
# LOGS a folder for what every frame took.
set -eu
[ $# -ge 1 ] || { sed -n 's/^# \{0,1\}//p' "$0" | sed 1d >&2; exit 2; }
scene=$1
shift
logs=${LOGS:-$(mktemp -d)}
mkdir -p "$logs"

run() {
  name=$1
  shift
  echo "== $name"
  "${UNTOLD:-bin/untold}" preview "$scene" --headless --fly-through --speed "${SPEED:-60}" --size "${SIZE:-1280x720}" \
    --frame-log "$logs/$name.jsonl" "$@" |
    grep -E 'OpenGL|^(frames|seconds|interval_ms|frame_ms|pace|hitches|cpu_ms|update_ms|upload|work|shadow|draws_max|triangles_max)|worst'
}

run all "$@"
run no-shadows --shadows -1 "$@"
run plain-gl --plain-gl "$@"
run uncapped --fps -1 "$@"
echo "every frame: $logs"

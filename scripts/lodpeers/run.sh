#!/bin/sh
# Runs other simplifiers on the models of scripts/lodbench and measures their
# results with the same ruler: scripts/lodbench/reference.json holds the
# outcome. Takes about fifteen minutes. Run it from the top of the repository:
#
#   sh scripts/lodpeers/run.sh [folder for models and results]
#
# It needs node with npm, and Blender; on Debian: apt-get install blender
# python3-numpy nodejs npm. MODELS, RATIOS and BLENDER_MODELS select less.
set -eu

dir=${1:-out/lodpeers}
models=${MODELS:-FlightHelmet,Mountains,dutch_ship,kit,city,rock360,terrain1k,city24}
blender_models=${BLENDER_MODELS:-$models}
ratios=${RATIOS:-0.5,0.2,0.1}
meshoptimizer=1.3.0

for tool in node npm blender; do
	command -v "$tool" >/dev/null || { echo "lodpeers: $tool is missing; on Debian: apt-get install blender python3-numpy nodejs npm" >&2; exit 1; }
done

here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$dir/npm"
rm -f "$dir"/*.mesh "$dir/times.tsv" "$dir/versions.tsv"

go run ./scripts/lodbench -models "$models" -export "$dir"

[ -f "$dir/npm/package.json" ] || echo '{"private": true}' >"$dir/npm/package.json"
npm install --prefix "$dir/npm" --no-audit --no-fund "meshoptimizer@$meshoptimizer"
full=$(cd "$dir" && pwd)
(cd "$dir/npm" && node "$here/meshopt.mjs" "$full" "$models" "$ratios" attr,attr+update)
blender -b --factory-startup -P "$here/blender.py" -- "$full" "$blender_models" "$ratios"

{
	printf 'meshoptimizer\t%s (npm)\n' "$meshoptimizer"
	printf 'blender\t%s\n' "$(blender --version | sed -n 's/^Blender //p' | head -n 1)"
} >"$dir/versions.tsv"
go run ./scripts/lodbench -models "$models" -ratios "$ratios" -peers "$dir"

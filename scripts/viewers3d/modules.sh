#!/bin/sh
# Installs what capture.mjs runs with, the viewers among it, into a folder: sh modules.sh DIR
set -eu
dir=$1
for tool in node npm; do
	command -v "$tool" >/dev/null || { echo "viewers3d: $tool is missing; on Debian: apt-get install chromium nodejs npm" >&2; exit 1; }
done
mkdir -p "$dir"
[ -f "$dir/package.json" ] || echo '{"private": true}' >"$dir/package.json"
npm install --prefix "$dir" --no-audit --no-fund three@0.187.0 3d-tiles-renderer@0.5.3 cesium@1.140.0 puppeteer-core@24.43.1

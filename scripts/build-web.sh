#!/bin/sh
# The viewer of the page (preview/web), compressed, where the program embeds it.
set -eu
GO=${GO:-go}
dist=preview/web/page
GOOS=js GOARCH=wasm CGO_ENABLED=0 $GO build -trimpath -ldflags="-s -w -buildid=" -o "$dist/viewer.wasm" ./preview/web/internal/viewer
$GO run ./scripts/wasmpack "$dist/viewer.wasm"
gzip -9nf "$dist/viewer.wasm"
cp "$($GO env GOROOT)/lib/wasm/wasm_exec.js" "$dist/wasm_exec.js"
chmod 644 "$dist/wasm_exec.js"

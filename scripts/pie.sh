#!/bin/sh
# Builds the preview twice and checks that it is position independent, where the
# go command can make it so, and the same both times. PIE and BUILDFLAGS are
# those of the Makefile.
set -eu
cd "$(dirname "$0")/.."
go=${GO:-go}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
for n in one two; do
	eval "CGO_ENABLED=1 \"$go\" build $PIE $BUILDFLAGS -o \"$dir/$n\" ./cmd/untold"
done
if ! cmp -s "$dir/one" "$dir/two"; then
	echo "pie: two builds of the preview differ" >&2
	exit 1
fi
if [ -z "$PIE" ]; then
	echo "pie: this system has no position independent executables"
	exit 0
fi
if ! "$go" version -m "$dir/one" | grep -q 'buildmode=pie$'; then
	echo "pie: the preview was not built with -buildmode=pie" >&2
	exit 1
fi
if command -v readelf >/dev/null && [ "$("$go" env GOOS)" = linux ]; then
	if ! readelf -h "$dir/one" | grep -q 'Type: *DYN'; then
		echo "pie: the preview has a fixed address" >&2
		exit 1
	fi
fi
echo "pie: the preview is position independent, and the same twice"

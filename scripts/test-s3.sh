#!/bin/sh
# Runs the tests of places and of publishing against a real S3 server, versitygw, on
# this machine's loopback. It is built into a temporary folder and is no dependency.
# With arguments, runs these instead of the tests: the variables of S3 programs lead
# to the server then, and S3_PLACE is an empty place of it that everybody may read.
set -eu
cd "$(dirname "$0")/.."
go=${GO:-go}
version=v1.8.0
dir=$(mktemp -d)
pid=
finish() {
	if [ -n "$pid" ]; then
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	fi
	rm -rf "$dir"
}
trap finish EXIT
trap 'exit 1' INT TERM

GOBIN="$dir" GOFLAGS= "$go" install "github.com/versity/versitygw/cmd/versitygw@$version"
port=${S3_PORT:-7873}
mkdir -p "$dir/data/scenes" "$dir/meta"
ROOT_ACCESS_KEY=untold ROOT_SECRET_KEY=untold-secret "$dir/versitygw" --quiet --port "127.0.0.1:$port" \
	posix --sidecar "$dir/meta" "$dir/data" >"$dir/log" 2>&1 &
pid=$!

# No profile of the user has a say.
for name in $(env | sed -n 's/^\(AWS_[A-Z0-9_]*\)=.*/\1/p'); do unset "$name"; done
export AWS_ENDPOINT_URL="http://127.0.0.1:$port" AWS_REGION=us-east-1 AWS_SHARED_CREDENTIALS_FILE=/dev/null AWS_CONFIG_FILE=/dev/null
export AWS_ACCESS_KEY_ID=untold AWS_SECRET_ACCESS_KEY=untold-secret S3_PLACE=s3://scenes/place

# The test that everybody may read the bucket is its first request: it waits for the
# server, which may still be starting, by the attempts that every request has.
UNTOLD_TEST_S3=s3://scenes/ready "$go" test -count=1 -run '^TestServerIsOpen$' ./internal/blob/s3 || {
	cat "$dir/log" >&2
	exit 1
}
if [ $# -gt 0 ]; then
	"$@"
	exit
fi
UNTOLD_TEST_S3=s3://scenes/test "$go" test -count=1 -run '^TestServer$' ./internal/blob/s3
UNTOLD_TEST_S3=s3://scenes/city "$go" test -count=1 -run '^TestPublishToServer$' ./cmd/untold
UNTOLD_TEST_S3=s3://scenes/store "$go" test -count=1 -run '^TestCookWithAServer$' ./cmd/untold

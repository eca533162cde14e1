#!/bin/sh
# Builds the static binary of a commit twice for each system in HASHTARGETS and
# prints the sha256 of each; exits 1 where the two differ. The second build has
# nothing in common with the first but the sources and the toolchain: another
# folder, an empty build cache, another path of the module cache, another home,
# time zone and language. Where there is no git, the working tree is built. With
# HASHRELEASE=1 what make release makes of both is compared, too, without
# the page of untold serve.
set -eu

GO=${GO:-go}
TARGETS=${HASHTARGETS:-linux/amd64 linux/arm64 darwin/arm64 windows/amd64}
cd "$(dirname "$0")/.."
umask 022
commit="no commit"
if [ -e .git ] && command -v git >/dev/null 2>&1; then
	commit=$(git rev-parse HEAD)
fi

tmp=$(mktemp -d)
# Caches of modules are written read-only, and the link leads to the user's.
trap 'rm -f "$tmp/modules"; chmod -R u+w "$tmp" 2>/dev/null || :; rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

sum() {
	if command -v sha256sum >/dev/null 2>&1; then
		sha256sum "$1" | cut -d' ' -f1
	else
		shasum -a 256 "$1" | cut -d' ' -f1
	fi
}

copy() { # copy FOLDER: the commit, or without git the files
	if [ "$commit" != "no commit" ]; then
		git clone -q --no-hardlinks . "$1"
	else
		mkdir -p "$1"
		tar -c --exclude=./bin --exclude=./out . | tar -x -C "$1"
	fi
}

if [ "$commit" != "no commit" ] && [ -n "$(git status --porcelain --untracked-files=no 2>/dev/null)" ]; then
	echo "hashes: there are changes that are not committed; the hashes are those of the commit" >&2
fi
first=$tmp/first
second=$tmp/a/rather/longer/way/to/the/second
copy "$first"
mkdir -p "$(dirname "$second")" "$tmp/home"
copy "$second"
ln -s "$($GO env GOMODCACHE)" "$tmp/modules"
path=$($GO env GOPATH)
settings=$($GO env GOENV)
# Flags of the user's own would change the bytes; this one is used anyway.
export GOFLAGS=-trimpath

build() { # build FOLDER TARGET: the binary lies in FOLDER/bin/untold
	(
		cd "$1" && rm -rf bin && GOOS=${2%/*} GOARCH=${2#*/} MAKEFLAGS= make -s static GO="$GO"
		if [ "${HASHRELEASE:-}" = 1 ]; then
			MAKEFLAGS= make -s release GO="$GO" OUT=out RELEASETARGETS="$2" RELEASEFLAGS=-without-page >/dev/null
		fi
	)
}

echo "$($GO version | sed 's/^go version/#/'), $commit"
different=""
for t in $TARGETS; do
	build "$first" "$t"
	(
		export GOCACHE="$tmp/cache" GOMODCACHE="$tmp/modules" GOPATH="$path" GOENV="$settings" HOME="$tmp/home" TZ=Pacific/Chatham LC_ALL=C
		umask 077
		build "$second" "$t"
	)
	one=$(sum "$first/bin/untold")
	two=$(sum "$second/bin/untold")
	echo "$one  untold-${t%/*}-${t#*/}"
	if [ "$one" != "$two" ]; then
		echo "hashes: $t: the second build is $two" >&2
		different="$different $t"
	fi
	if [ "${HASHRELEASE:-}" = 1 ] && ! diff "$first/out/release/SHA256SUMS" "$second/out/release/SHA256SUMS" >&2; then
		echo "hashes: $t: the releases differ" >&2
		different="$different $t"
	fi
done
if [ -n "$different" ]; then
	echo "hashes: two builds of the same sources differ for$different" >&2
	exit 1
fi

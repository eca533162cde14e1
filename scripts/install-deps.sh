#!/bin/sh
# Installs what building and testing needs beside Go: a C compiler for the race
# detector. Does nothing when it is there; on systems without apt it says what
# is missing.
set -eu

packages=""
command -v gcc >/dev/null 2>&1 || packages="$packages gcc libc6-dev"
command -v git >/dev/null 2>&1 || packages="$packages git"

if ! command -v "${GO:-go}" >/dev/null 2>&1; then
	echo "install-deps: Go is missing. Install Go 1.26 or newer (https://go.dev/dl) and put it on the PATH." >&2
	exit 1
fi
[ -n "$packages" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "install-deps: missing:$packages" >&2
	echo "install-deps: this is not a Debian or Ubuntu system; install these with your package manager" >&2
	exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "install-deps: run as root: apt-get install$packages" >&2
		exit 1
	fi
	sudo=sudo
fi
$sudo apt-get -o DPkg::Lock::Timeout=300 update
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $packages

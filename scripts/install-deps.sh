#!/bin/sh
# Installs what building and testing needs beside Go: a C compiler, the headers
# of the preview's window and OpenGL, a software renderer and a virtual display
# for its tests. Does nothing when all is there; on systems without apt it says
# what is missing. With NOPREVIEW=1 it leaves out what only the preview needs.
#
#   sh scripts/install-deps.sh          # what make test needs
#   sh scripts/install-deps.sh build    # what make build needs: neither a display nor, with
#                                       # NOPREVIEW=1, a C compiler
set -eu

case ${1:-} in
'' | build) ;;
*)
	echo "install-deps: $1: what is that? Give nothing, or build" >&2
	exit 2
	;;
esac
tests=true
[ "${1:-}" = build ] && tests=false
window=true
[ "${NOPREVIEW:-}" = 1 ] && window=false

packages=""
root=${DEPSROOT:-} # where files are looked for, for the test of this script
need() { # need PACKAGE FILE...: the package, unless one of the files is there
	package=$1
	shift
	for file; do
		for found in $root$file; do
			[ -e "$found" ] && return 0
		done
	done
	packages="$packages $package"
}

if $tests || $window; then
	command -v gcc >/dev/null 2>&1 || packages="$packages gcc libc6-dev"
fi
command -v git >/dev/null 2>&1 || packages="$packages git"
if [ "$(uname -s)" = Linux ] && [ -z "${SSL_CERT_FILE:-}${SSL_CERT_DIR:-}" ]; then
	# Go fetches modules over https, which needs the system's certificates.
	need ca-certificates /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem \
		/etc/pki/tls/cacert.pem /etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem /etc/ssl/cert.pem
fi
if [ "$(uname -s)" = Linux ] && $window; then
	command -v pkg-config >/dev/null 2>&1 || packages="$packages pkg-config"
	# Headers: GLFW on X11, OpenGL, EGL.
	need libx11-dev /usr/include/X11/Xlib.h
	need libxcursor-dev /usr/include/X11/Xcursor/Xcursor.h
	need libxrandr-dev /usr/include/X11/extensions/Xrandr.h
	need libxinerama-dev /usr/include/X11/extensions/Xinerama.h
	need libxi-dev /usr/include/X11/extensions/XInput2.h
	need libxxf86vm-dev /usr/include/X11/extensions/xf86vmode.h
	need libgl-dev /usr/include/GL/gl.h
	need libegl-dev /usr/include/EGL/egl.h
	# To run: the libraries, Mesa's software renderer.
	need libgl1 '/usr/lib/*/libGL.so.1' /usr/lib/libGL.so.1 /usr/lib64/libGL.so.1
	need libegl1 '/usr/lib/*/libEGL.so.1' /usr/lib/libEGL.so.1 /usr/lib64/libEGL.so.1
	need libgl1-mesa-dri '/usr/lib/*/dri/swrast_dri.so' '/usr/lib/*/libgallium*.so' /usr/lib/dri/swrast_dri.so /usr/lib64/dri/swrast_dri.so
fi
if [ "$(uname -s)" = Linux ] && $window && $tests; then
	# Tests of the window: a display without a screen.
	need xvfb /usr/bin/Xvfb
	need xauth /usr/bin/xauth
	need xdotool /usr/bin/xdotool
fi

if ! command -v "${GO:-go}" >/dev/null 2>&1; then
	echo "install-deps: Go is missing. Install Go 1.26 or newer (https://go.dev/dl) and put it on the PATH." >&2
	exit 1
fi
# From 1.21 on Go fetches the version that go.mod asks for.
old=$("${GO:-go}" version 2>/dev/null) || old=""
case $old in
*" go1."*)
	old=${old#* go1.}
	old=${old%%[!0-9]*}
	;;
*) old="" ;;
esac
if [ -n "$old" ] && [ "$old" -lt 21 ]; then
	echo "install-deps: Go 1.$old is too old. Install Go 1.26 or newer (https://go.dev/dl) and put it first on the PATH." >&2
	exit 1
fi
[ -n "$packages" ] || exit 0

if ! command -v apt-get >/dev/null 2>&1; then
	echo "install-deps: missing (by their Debian names):$packages" >&2
	echo "install-deps: this is not a Debian or Ubuntu system; install these with your package manager," >&2
	echo "install-deps: or set NOPREVIEW=1 to build and test without the preview" >&2
	exit 1
fi
sudo=""
if [ "$(id -u)" != 0 ]; then
	if ! command -v sudo >/dev/null 2>&1; then
		echo "install-deps: run as root: apt-get update && apt-get install$packages" >&2
		if $window; then
			echo "install-deps: or set NOPREVIEW=1 to build and test without the preview" >&2
		fi
		exit 1
	fi
	sudo=sudo
fi
$sudo apt-get -o DPkg::Lock::Timeout=300 update
# shellcheck disable=SC2086
DEBIAN_FRONTEND=noninteractive $sudo apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends $packages

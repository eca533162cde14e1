#!/bin/sh
# Puts what make build has made below $DESTDIR$PREFIX, or with the argument
# remove takes it away: the programs, completions, man pages and licences. The
# preview is installed where it was built. Runs as whoever may write there.
set -eu
cd "$(dirname "$0")/.."
bin=${BIN:-bin}
prefix=${PREFIX:-/usr/local}
case $prefix in
/*) ;;
*)
	echo "install: PREFIX is $prefix; give a path that begins with a slash" >&2
	exit 2
	;;
esac
root=${DESTDIR:-}$prefix
man=$root/share/man/man1
licenses=$root/share/doc/untold
completions="share/bash-completion/completions/untold share/zsh/site-functions/_untold share/fish/vendor_completions.d/untold.fish"

if [ "${1:-}" = remove ]; then
	for f in bin/untold bin/untold-preview $completions; do
		rm -f "$root/$f"
	done
	rm -f "$man/untold.1" "$man"/untold-*.1 "$licenses/LICENSE" "$licenses/THIRD_PARTY_LICENSES"
	rmdir "$licenses" 2>/dev/null || :
	exit 0
fi

if [ ! -x "$bin/untold" ]; then
	echo "install: there is no $bin/untold; run make build first (or make build NOPREVIEW=1)" >&2
	exit 2
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
# The pages bear the day of the commit where there is one, so that packages of
# the same sources are the same.
if [ -z "${SOURCE_DATE_EPOCH:-}" ] && SOURCE_DATE_EPOCH=$(git show -s --format=%ct HEAD 2>/dev/null); then
	export SOURCE_DATE_EPOCH
fi
[ -n "${SOURCE_DATE_EPOCH:-}" ] || unset SOURCE_DATE_EPOCH
"$bin/untold" docs man -o "$tmp/man" >/dev/null
for shell in bash zsh fish; do
	"$bin/untold" completion "$shell" >"$tmp/$shell"
done

put() { # put MODE FILE DESTINATION
	mkdir -p "$(dirname "$3")"
	install -m "$1" "$2" "$3"
}
put 755 "$bin/untold" "$root/bin/untold"
if [ -x "$bin/untold-preview" ]; then
	put 755 "$bin/untold-preview" "$root/bin/untold-preview"
fi
set -- bash zsh fish
for f in $completions; do
	put 644 "$tmp/$1" "$root/$f"
	shift
done
for page in "$tmp"/man/*.1; do
	put 644 "$page" "$man/$(basename "$page")"
done
put 644 LICENSE "$licenses/LICENSE"
put 644 internal/licenses/THIRD_PARTY_LICENSES "$licenses/THIRD_PARTY_LICENSES"
echo "untold is in $root/bin"

#!/bin/sh
# Puts what make build has made below $DESTDIR$PREFIX: the programs, completions,
# man pages and licences. The preview is installed where it was built. With the
# argument remove it takes away what share/doc/untold/INSTALLED lists, which has
# all that was ever put there. Runs as whoever may write there.
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
licenses=$root/share/doc/untold
list=$licenses/INSTALLED # names below $root
completions="share/bash-completion/completions/untold share/zsh/site-functions/_untold share/fish/vendor_completions.d/untold.fish"

if [ "${1:-}" = remove ]; then
	if [ ! -f "$list" ]; then
		if [ -e "$root/bin/untold" ]; then
			echo "install: there is no $list, so nobody knows what make install put below $root: run make install with the same PREFIX and DESTDIR, which writes it, then this again" >&2
			exit 2
		fi
		echo "install: nothing is installed below $root" >&2
		exit 0
	fi
	while IFS= read -r f; do
		case $f in
		*..* | *//*) ;; # none of ours
		bin/* | share/*) rm -f "$root/$f" ;;
		esac
	done <"$list"
	rm -f "$list"
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

put() { # put MODE FILE NAME: and lists the name, once
	mkdir -p "$(dirname "$root/$3")"
	install -m "$1" "$2" "$root/$3"
	grep -qxF "$3" "$list" || echo "$3" >>"$list"
}
mkdir -p "$licenses"
touch "$list"
chmod 644 "$list"
put 755 "$bin/untold" bin/untold
if [ -x "$bin/untold-preview" ]; then
	put 755 "$bin/untold-preview" bin/untold-preview
fi
set -- bash zsh fish
for f in $completions; do
	put 644 "$tmp/$1" "$f"
	shift
done
for page in "$tmp"/man/*.1; do
	put 644 "$page" "share/man/man1/$(basename "$page")"
done
put 644 LICENSE share/doc/untold/LICENSE
put 644 internal/licenses/THIRD_PARTY_LICENSES share/doc/untold/THIRD_PARTY_LICENSES
echo "untold is in $root/bin"

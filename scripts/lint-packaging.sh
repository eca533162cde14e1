#!/bin/sh
# Looks at what installs and calls the program with the tools of those who read
# it. Tools of Go are fetched by exact version; others are used where they are,
# and named where they are not. Exit code 1: something is wrong.
set -eu
GO=${GO:-go}
ACTIONLINT=github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
CYCLONEDX=github.com/CycloneDX/cyclonedx-go@v0.12.0
cd "$(dirname "$0")/.."
root=$(pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
bad=0

there() { # there COMMAND WHAT: whether the command is there
	command -v "$1" >/dev/null 2>&1 && return 0
	echo "not checked: $2 ($1 is not there)"
	return 1
}
judge() { # judge WHAT COMMAND...
	what=$1
	shift
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok: $what"
	else
		echo "wrong: $what"
		cat "$tmp/said"
		bad=1
	fi
}
# The nth block of docs/ci.md, from 1.
block() {
	awk -v want="$1" '/^```/ { inside = !inside; if (inside) n++; next } inside && n == want' docs/ci.md
}

# The recipe of docs/ci.md as a workflow of a repository that has the action at
# its root, so that its inputs and outputs are checked, too.
mkdir -p "$tmp/repo/.github/workflows" "$tmp/repo/.git"
cp action.yml "$tmp/repo/"
block 1 | sed 's|untoldkit/untold@v[0-9.]*|./|' >"$tmp/repo/.github/workflows/scene.yml"
(cd "$tmp" && GOBIN=$tmp "$GO" install "$ACTIONLINT")
judge "action.yml and the workflow of docs/ci.md (actionlint)" sh -c "cd '$tmp/repo' && '$tmp/actionlint' -color=false"
# What actionlint does not read of an action: its shell lines.
there shellcheck "shell scripts" && judge "shell scripts (shellcheck)" shellcheck -e SC1007,SC2015 scripts/*.sh .ci/run deploy/*.sh
block 3 >"$tmp/recipe.sh"
there shellcheck "the recipe for shells" && judge "the recipe for shells (shellcheck)" shellcheck -s sh "$tmp/recipe.sh"
there pre-commit ".pre-commit-hooks.yaml" && judge ".pre-commit-hooks.yaml (pre-commit)" pre-commit validate-manifest .pre-commit-hooks.yaml
schemas=$(cd "$tmp" && "$GO" mod download -json "$CYCLONEDX" | sed -n 's/.*"Dir": "\(.*\)".*/\1/p')/schema
judge "the bill of materials (schema of CycloneDX)" env UNTOLD_CYCLONEDX="$schemas" "$GO" test -count=1 -run TestBillHasTheSchema ./scripts/release
UNTOLD_RELEASE_SAMPLES="$tmp/samples" "$GO" test -count=1 -run TestPackagers ./scripts/release >/dev/null
there ruby "the formula" && judge "the formula (ruby)" ruby -c "$tmp/samples/untold.rb"
there brew "the formula's style" && judge "the formula (brew style)" brew style "$tmp/samples/untold.rb"
for f in deploy/*Dockerfile; do
	there hadolint "$f" && judge "$f (hadolint)" hadolint "$root/$f"
done
for shell in bash zsh fish; do
	there $shell "the completion for $shell" && "$GO" run ./cmd/untold completion $shell >"$tmp/completion" && judge "the completion for $shell" $shell -n "$tmp/completion"
done
exit $bad

#!/usr/bin/env bash
# What action.yml runs: cooks SCENE into OUTPUT, judges it and flies through it,
# and leaves reports and pictures in REPORTS. All steps run, whatever one before
# has found, so that a run shows all that is wrong; exit code 1 when something
# was found, 2 when the work could not be done. Findings are annotations where
# GITHUB_ACTIONS is set. Lists (SCENE, COOK_FLAGS, SIMULATE_FLAGS, FAIL_IF) have
# one element a line.
set -euo pipefail

untold=${PROGRAM:-$(dirname "$0")/../bin/untold}
output=${OUTPUT:-out/untold}
reports=${REPORTS:-out/untold-reports}
code=0

list() { # list NAME TEXT [PREFIX]: the lines that are not blank, into the array NAME
	local -n into=$1
	local line
	into=()
	while IFS= read -r line; do
		line=${line#"${line%%[![:space:]]*}"}
		line=${line%"${line##*[![:space:]]}"}
		if [ -n "$line" ]; then into+=("${3:-}$line"); fi
	done <<<"$2"
}

run() { # run COMMAND...: goes on when it has findings, ends when it failed
	local got=0
	"$@" || got=$?
	case $got in
	0) ;;
	1) code=1 ;;
	*) exit "$got" ;;
	esac
}

result() { # result NAME VALUE: an output of the step
	if [ -n "${GITHUB_OUTPUT:-}" ]; then printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; fi
}

scenes=() cook=() flight=() conditions=()
list scenes "${SCENE:-}"
list cook "${COOK_FLAGS:-}"
list flight "${SIMULATE_FLAGS:-}"
list conditions "${FAIL_IF:-}" --fail-if=
if [ ${#scenes[@]} = 0 ]; then
	echo "action: SCENE names no scene" >&2
	exit 2
fi
mkdir -p "$reports"
result reports "$reports"

# A cook over its budgets has findings and a finished scene; without a manifest
# there is nothing to go on with.
run "$untold" cook "${scenes[@]}" -o "$output" --report "$reports/cook.html" ${cook[@]+"${cook[@]}"} --json >"$reports/cook.json"
manifest=$(sed -n 's/^  "manifest": "\(.*\)",*$/\1/p' "$reports/cook.json" | head -n 1)
if [ ! -f "$manifest" ]; then
	echo "action: there is no finished scene: the cook names no manifest in $reports/cook.json" >&2
	if [ "$code" = 0 ]; then code=2; fi
	exit "$code"
fi
result manifest "$manifest"

strict=()
if [ "${STRICT:-}" = true ]; then strict=(--strict); fi
# The formats are of one judgement; each is a reader's. What the first run finds
# decides.
result sarif "$reports/validate.sarif"
run "$untold" validate "$output" ${strict[@]+"${strict[@]}"} --format sarif >"$reports/validate.sarif"
"$untold" validate "$output" ${strict[@]+"${strict[@]}"} --format junit >"$reports/validate.xml" || :
if [ -n "${GITHUB_ACTIONS:-}" ]; then
	"$untold" validate "$output" --format github || :
else
	"$untold" validate "$output" || :
fi

run "$untold" inspect "$manifest" --map "$reports/map.png" --map-size 1200
if [ ${#conditions[@]} -gt 0 ]; then
	run "$untold" simulate "$manifest" ${flight[@]+"${flight[@]}"} "${conditions[@]}" \
		--report "$reports/flight.json" --plot "$reports/flight.svg"
fi
if [ "${PICTURES:-}" = true ]; then
	run "$untold" preview "$manifest" --headless --no-hud --size 1280x720 --screenshot "$reports/scene.png"
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
	{
		printf '### untold\n\n```\n'
		"$untold" inspect "$manifest" --limit 12 || :
		printf '```\n'
	} >>"$GITHUB_STEP_SUMMARY"
fi
exit "$code"

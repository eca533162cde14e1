#!/bin/sh
# Runs every native fuzz target of the repository for FUZZTIME each.
set -eu
GO=${GO:-go}
for pkg in $($GO list ./...); do
	dir=$($GO list -f '{{.Dir}}' "$pkg")
	for target in $(grep -hos '^func Fuzz[A-Za-z0-9_]*' "$dir"/*_test.go | cut -c6- | sort); do
		echo "== $pkg $target"
		# Minimising an interesting input is bounded, or it eats the budget.
		$GO test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" -fuzzminimizetime 20x "$pkg"
	done
done

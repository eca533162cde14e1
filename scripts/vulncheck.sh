#!/bin/sh
# Looks for known vulnerabilities in what the programs call, with the tool that
# scripts/vuln.mod pins. It needs the database: https://vuln.go.dev, or a copy
# named by VULNDB (an address, or file:///FOLDER). Exit code 1: there are some;
# 2: nothing could be said.
set -eu

GO=${GO:-go}
DB=${VULNDB:-https://vuln.go.dev}
cd "$(dirname "$0")/.."

code=0
text=$($GO tool -modfile=scripts/vuln.mod govulncheck -db "$DB" ./... 2>&1) || code=$?
echo "$text"
case $code in
0) exit 0 ;;
3) exit 1 ;;
esac
case $text in
*"fetching vulnerabilities"* | *"creating client"* | *"no such host"*)
	echo "vulncheck: the database at $DB is out of reach, so nothing is known; connect to the internet, or name a copy: VULNDB=file:///FOLDER make vulncheck" >&2
	;;
*)
	echo "vulncheck: the tool could not do its work (exit code $code), so nothing is known" >&2
	;;
esac
exit 2

#!/bin/bash
# Cooks scenes with the binaries for amd64 and arm64 and compares every byte of what they
# write. The arm64 one runs by Debian's qemu-user-static, or by itself where the machine
# can; on amd64 everything is cooked a third time without what its newer processors add.
#
#   SCENES="city"     only these of city, forest, office, and of the real ones helmet, draco,
#                     meshopt, basis, terrain
#   ASSETS=DIR        real files; those that are not there are left out
#   BIN=DIR           has untold-amd64, untold-arm64, gen-amd64, gen-arm64 already, so that
#                     this machine needs no Go
#   KEEP=1            leaves the folder
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
assets=${ASSETS:-$PWD/../shared/assets}

# run ARCH PROGRAM ARGS: the program for that architecture.
host=$(uname -m)
emulator=()
case $host in
x86_64) emulator=(qemu-aarch64-static) ;;
aarch64) emulator=(qemu-x86_64-static) ;;
*) echo "$0: this compares amd64 and arm64, and runs on one of them" >&2; exit 2 ;;
esac
command -v "${emulator[0]}" >/dev/null || {
	echo "$0: there is no ${emulator[0]}: apt-get install qemu-user-static" >&2
	exit 2
}
run() {
	local arch=$1 program=$2
	shift 2
	case $host-$arch in
	x86_64-arm64 | aarch64-amd64) "${emulator[@]}" "$bin/$program-$arch" "$@" ;;
	*) "$bin/$program-$arch" "$@" ;;
	esac
}

dir=$(mktemp -d "${TMPDIR:-/tmp}/untold-arm64.XXXXXX")
finish() { [ -n "${KEEP:-}" ] && echo "$dir" || rm -rf "$dir"; }
trap finish EXIT
trap 'exit 130' INT TERM
for name in $(env | sed -n 's/^\(UNTOLD_[A-Z0-9_]*\)=.*/\1/p'); do unset "$name"; done

bin=${BIN:-$dir/bin}
if [ -z "${BIN:-}" ]; then
	for arch in amd64 arm64; do
		CGO_ENABLED=0 GOARCH=$arch "$go" build -trimpath -o "$bin/untold-$arch" ./cmd/untold
		CGO_ENABLED=0 GOARCH=$arch "$go" build -trimpath -o "$bin/gen-$arch" ./scripts/gen
	done
fi
bin=$(cd "$bin" && pwd)

failed=0
# same NAME A B: two files or folders are the same. What a cook remembers of files has their
# times, so it is left out; what it keeps beside the scene is not.
same() {
	if ! diff -rq --exclude='*.state' "$2" "$3" >"$dir/diff"; then
		echo "DIFFERENT $1:" >&2
		head -n 20 "$dir/diff" >&2
		failed=$((failed + 1))
	fi
}

# cook NAME FILE FLAGS: by both, into DIR/NAME/ARCH, with the map, an export and the store.
cook() {
	local name=$1 file=$2 arch start=$SECONDS out=$dir/$1
	shift 2
	mkdir -p "$out"
	for arch in amd64 arm64; do
		run $arch untold cook "$file" -o "$out/$arch" --sync=false --store "$out/store-$arch" "$@" >"$out/$arch.log" 2>&1 || {
			echo "FAILED $name on $arch" >&2
			cat "$out/$arch.log" >&2
			failed=$((failed + 1))
			return
		}
	done
	same "$name" "$out/amd64" "$out/arm64"
	same "$name: the store" "$out/store-amd64" "$out/store-arm64"
	if [ "$host" = x86_64 ]; then
		BCN_PUREGO=1 GODEBUG=cpu.all=off run amd64 untold cook "$file" -o "$out/old" --sync=false "$@" >"$out/old.log" 2>&1
		same "$name: an old amd64" "$out/amd64" "$out/old"
	fi
	# What one has made is found by the other.
	run amd64 untold cook "$file" -o "$out/taken" --sync=false --store "$out/store-arm64" --require-store "$@" >"$out/taken.log" 2>&1 || {
		echo "DIFFERENT $name: amd64 does not find in the store what arm64 has made" >&2
		tail -n 5 "$out/taken.log" >&2
		failed=$((failed + 1))
	}
	local manifest
	manifest=$(find "$out/amd64" -maxdepth 1 -name '*.json')
	manifest=${manifest##*/}
	for arch in amd64 arm64; do
		mkdir -p "$out/more-$arch"
		run $arch untold export "$out/$arch/$manifest" -o "$out/more-$arch/export.glb" >/dev/null 2>&1
		run $arch untold inspect "$out/$arch/$manifest" --map "$out/more-$arch/map.png" >/dev/null 2>&1
		run $arch untold inspect "$out/$arch/$manifest" --map "$out/more-$arch/map.svg" >/dev/null 2>&1
	done
	same "$name: export and maps" "$out/more-amd64" "$out/more-arm64"
	echo "$name: $(find "$out/amd64" -type f | wc -l) files, $(du -sk "$out/amd64" | cut -f1) KiB, in $((SECONDS - start)) s"
	[ -n "${KEEP:-}" ] || rm -rf "$out"
}

# generate NAME FLAGS: a scene, which is the same from both.
generate() {
	local name=$1 arch
	shift
	for arch in amd64 arm64; do run $arch gen "$@" -o "$dir/$name-$arch.glb" 2>/dev/null; done
	same "$name, generated" "$dir/$name-amd64.glb" "$dir/$name-arm64.glb"
	mv "$dir/$name-amd64.glb" "$dir/$name.glb"
}

wanted() { [ -z "${SCENES:-}" ] || [[ " $SCENES " == *" $1 "* ]]; }

# Small, because an emulator takes 10 to 20 times as long.
if wanted city; then
	generate city -blocks 1 -detail 0 -texture-size 64
	cook city "$dir/city.glb" --whole-limit 0 --tile-size 300 --pyramid --hlod-atlas --textures bc
	cook city-quadtree "$dir/city.glb" --whole-limit 0 --partition quadtree --instances
	cook city-kdtree "$dir/city.glb" --whole-limit 0 --partition kdtree --textures resize --max-texture 20
	cook city-engine "$dir/city.glb" --compat engine --lod --hlod
fi
if wanted forest; then
	generate forest -kind forest -size 40 -detail 0 -texture-size 32
	cook forest "$dir/forest.glb" --whole-limit 0 --tile-size 60 --pyramid --textures bc --compress zstd
fi
if wanted office; then
	generate office -kind office -floors 1 -detail 0 -texture-size 32
	cook office "$dir/office.glb" --whole-limit 0 --partition kdtree
fi

# real NAME FILE FLAGS
real() {
	local name=$1 file=$assets/$2
	shift 2
	if wanted "$name" && [ -e "$file" ]; then cook "$name" "$file" --whole-limit 0 "$@"; fi
}
real helmet models/FlightHelmet/FlightHelmet.gltf --textures bc --max-texture 64 --hlod-atlas
real draco features/CesiumMilkTruck-draco/CesiumMilkTruck.gltf --tile-size 2
real meshopt features/Duck-meshopt/Duck-vp-12-vt-12-vn-12.glb --tile-size 1 --textures bc
real basis features/CesiumBalloonKTX2/CesiumBalloonKTX2.glb --textures bc --max-texture 256
real terrain models/terrain/terrain.glb --textures resize --pyramid

if [ "$failed" -gt 0 ]; then
	echo "$0: $failed differences" >&2
	exit 1
fi
echo "amd64 and arm64 write the same bytes"

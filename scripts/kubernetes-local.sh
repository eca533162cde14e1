#!/bin/bash
# Runs what untold farm kubernetes prints on a Kubernetes API server of its own: etcd,
# kube-apiserver and kube-controller-manager on loopback, with ports and a state folder of
# their own, and nodes (scripts/kubenode) that run pods as processes of this machine. Cooks
# a city by the commands that stand in the manifests, kills, deletes and evicts pods, takes a
# node away, and compares every result with the cook of one machine, byte for byte.
#
#   SHARDS="1 2 7"     numbers of shards of runs in which nothing is killed
#   KILLS=8            pods that are killed, deleted or evicted, over several runs
#   SEED=1             which ones, as far as the timing lets it decide
#   BLOCKS=3           size of the city
#   KUBERNETES=DIR     the programs, built before; they are built into out/kubernetes otherwise
#   KEEP=1             leaves the folder with the logs
#
# Below scripts/test-s3.sh one run has its store in a bucket, with a secret.
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}

for tool in etcd openssl; do
	command -v "$tool" >/dev/null || {
		echo "$0: there is no $tool: apt-get install etcd-server openssl" >&2
		exit 2
	}
done
[ "$(id -u)" = 0 ] || {
	echo "$0: nodes run pods in the name of users and need root" >&2
	exit 2
}

# The programs, from the module proxy; the first build takes some 20 minutes of a processor.
programs=${KUBERNETES:-${OUT:-out}/kubernetes}
if [ -z "${KUBERNETES:-}" ]; then
	version=$(sed -n 's/^require k8s.io\/kubernetes //p; s/^\tk8s.io\/kubernetes \(v[^ ]*\).*/\1/p' scripts/kubernetes.mod)
	mkdir -p "$programs"
	for tool in kube-apiserver kube-controller-manager kubectl; do
		CGO_ENABLED=0 nice "$go" build -trimpath -modfile=scripts/kubernetes.mod -gcflags=all=-dwarf=false -ldflags "-s -w -X k8s.io/component-base/version.gitVersion=$version" -o "$programs/$tool" "k8s.io/kubernetes/cmd/$tool" || {
			echo "$0: $tool could not be built from the module proxy" >&2
			exit 2
		}
	done
fi
PATH=$(cd "$programs" && pwd):$PATH

dir=$(mktemp -d "${TMPDIR:-/tmp}/untold-kubernetes.XXXXXX")
chmod 755 "$dir" # pods are another user's
RANDOM=${SEED:-1}
declare -A pids=()
for name in $(env | sed -n 's/^\(\(UNTOLD\|ETCD\|KUBECTL\)_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
export KUBECONFIG=$dir/kubeconfig KUBECACHEDIR=$dir/cache
steps=

# tasks lists the cooks of shards that run on a node, or on all.
tasks() {
	local name pid
	for name in ${1:-$(seq -f node%g 0 2)}; do
		for pid in $(ps -o pid= --ppid "${pids[$name]:-0}"); do
			if grep -qz ^JOB_COMPLETION_INDEX= "/proc/$pid/environ" 2>/dev/null; then echo "$pid"; fi
		done
	done
}
# variable is one of a process's, or nothing where the process has ended.
variable() { { tr '\0' '\n' <"/proc/$1/environ" | sed -n "s/^$2=//p"; } 2>/dev/null || true; }
# dies kills one of the tasks, whose number is index then.
dies() {
	mapfile -t running < <(tasks)
	[ ${#running[@]} -gt 0 ] || return 1
	index=$(variable "${running[0]}" JOB_COMPLETION_INDEX)
	[ -n "$index" ] && kill -KILL "${running[0]}" 2>/dev/null
}

finish() {
	local rc=$? name
	trap - EXIT
	set +e
	if [ $rc -ne 0 ]; then
		echo "--- failed; the ends of the logs:" >&2
		tail -n 15 "$dir"/*.log "$dir"/pods/*.log >&2
		kubectl --request-timeout=10s -n maps get jobs,pods >&2 2>/dev/null
	fi
	[ -z "$steps" ] || kill "$steps" 2>/dev/null
	for name in node0 node1 node2 kube-controller-manager kube-apiserver etcd; do
		[ -n "${pids[$name]:-}" ] || continue
		kill "${pids[$name]}" 2>/dev/null
		# Nodes too are waited for: their pods write into the folder.
		within 20 gone "$name" >/dev/null 2>&1 || kill -9 "${pids[$name]}" 2>/dev/null
	done
	if [ -n "${KEEP:-}" ]; then
		echo "logs are in $dir"
	else
		rm -rf "$dir"
	fi
	exit $rc
}
gone() { [ ! -d "/proc/${pids[$1]:-none}" ]; }
trap finish EXIT
trap 'exit 1' INT TERM HUP

# within waits until a condition holds, for so many seconds at most.
within() {
	local until=$((SECONDS + $1))
	shift
	until "$@"; do
		if [ $SECONDS -ge $until ]; then
			echo "$0: waited in vain for: $*" >&2
			return 1
		fi
		sleep 0.2
	done
}

start() { # NAME COMMAND...
	local name=$1
	shift
	"$@" >>"$dir/$name.log" 2>&1 &
	pids[$name]=$!
	disown # that one of them is killed is no news
}

# A cluster of three nodes, which are this machine.
base=${KUBERNETES_PORTS:-26900}
server=https://127.0.0.1:$((base + 2))
mkdir "$dir/etcd" "$dir/certificates" "$dir/pods" "$dir/bin" "$dir/scenes" "$dir/work"
(
	umask 077
	openssl genrsa -out "$dir/accounts.key" 2048 2>/dev/null
	openssl rand -hex 16 >"$dir/token"
	echo "$(cat "$dir/token"),admin,admin,system:masters" >"$dir/tokens.csv"
)
chmod 700 "$dir/etcd"
start etcd etcd --data-dir "$dir/etcd" --name untold --listen-client-urls "http://127.0.0.1:$base" --advertise-client-urls "http://127.0.0.1:$base" \
	--listen-peer-urls "http://127.0.0.1:$((base + 1))" --initial-advertise-peer-urls "http://127.0.0.1:$((base + 1))" --initial-cluster "untold=http://127.0.0.1:$((base + 1))"
# Certificates are the server's own, accounts those of the key; pods are held to the
# standard that their namespace names.
start kube-apiserver kube-apiserver --etcd-servers "http://127.0.0.1:$base" --bind-address 127.0.0.1 --secure-port $((base + 2)) --cert-dir "$dir/certificates" \
	--authorization-mode AlwaysAllow --token-auth-file "$dir/tokens.csv" --service-cluster-ip-range 10.0.0.0/24 --endpoint-reconciler-type none --advertise-address 127.0.0.1 \
	--service-account-issuer "$server" --service-account-key-file "$dir/accounts.key" --service-account-signing-key-file "$dir/accounts.key"
cat >"$KUBECONFIG" <<EOF
apiVersion: v1
kind: Config
current-context: untold
clusters: [{name: untold, cluster: {server: "$server", certificate-authority: "$dir/certificates/apiserver.crt"}}]
users: [{name: admin, user: {tokenFile: "$dir/token"}}]
contexts: [{name: untold, context: {cluster: untold, user: admin}}]
EOF
ready() { kubectl get --raw /readyz >/dev/null 2>&1; }
within 300 ready
start kube-controller-manager kube-controller-manager --kubeconfig "$KUBECONFIG" --leader-elect=false --bind-address 127.0.0.1 --secure-port 0 --concurrent-gc-syncs 2 \
	--controllers job-controller,pod-garbage-collector-controller,garbage-collector-controller,ttl-after-finished-controller,serviceaccount-controller
kubectl create -f - >/dev/null <<EOF
{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "maps", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}}
EOF
account() { kubectl -n maps get serviceaccount default >/dev/null 2>&1; }
within 120 account
"$go" build -o "$dir/bin/untold" ./cmd/untold
"$go" build -o "$dir/kubenode" ./scripts/kubenode
node() { start "node$1" "$dir/kubenode" -server "$server" -ca "$dir/certificates/apiserver.crt" -token "$dir/token" -name "node$1" -cpus 2 -path "$dir/bin" -logs "$dir/pods"; }
nodes() { [ "$(kubectl get nodes -o name | wc -l)" = 3 ]; }
for i in 0 1 2; do node $i; done
within 30 nodes
echo "kubernetes $(kubectl version -o yaml | sed -n '/^serverVersion/,$s/^  gitVersion: //p'), $(etcd --version | sed -n 's/^etcd Version: /etcd /p'): 3 nodes"

# The scene, whose name means something to Kubernetes, and what one machine makes of it.
scene="$dir/scenes/the \$(UNTOLD_SHARDS) city.glb"
flags=(--tile-size 40 --whole-limit 0 -q)
"$go" run ./scripts/gen -blocks "${BLOCKS:-3}" -o "$scene"
"$dir/bin/untold" cook "$scene" -o "$dir/want" "${flags[@]}" 2>/dev/null

# submit N NAME [OPTION...] begins the commands of a manifest.
submit() {
	local n=$1 store=$dir/work/$2/store
	name=$2
	shift 2
	if [ "$name" = bucket ]; then store=$S3_PLACE/kubernetes; fi
	mkdir "$dir/work/$name"
	chown -R 1000:1000 "$dir/work/$name"
	"$dir/bin/untold" farm kubernetes "${of:-$scene}" -o "$dir/work/$name/out" --store "$store" --shards "$n" --name "$name" --namespace maps --image localhost/untold:test \
		--pvc "scenes:$dir/scenes:ro" --pvc "work:$dir/work" "$@" -- "${flags[@]}" >"$dir/$name.yaml"
	sed -n 's/^#   //p' "$dir/$name.yaml" | sed "s|THIS_FILE|$dir/$name.yaml|" >"$dir/$name.sh"
	bash "$dir/$name.sh" >>"$dir/$name.log" 2>&1 &
	steps=$!
}
condition() { kubectl -n maps get "job/$1" -o 'jsonpath={range .status.conditions[?(@.status=="True")]}{.type}:{.reason} {end}' 2>/dev/null; }
status() { kubectl -n maps get "job/$1" -o "jsonpath={.status.$2}"; }
stepped() { [ ! -d "/proc/$steps" ]; }
ended() { case $(condition "$1") in *Complete:* | *Failed:*) ;; *) return 1 ;; esac; }
results() { find "$dir/work/$1/store" -type f 2>/dev/null | wc -l; }
begun() { [ "$(results "$1")" -ge 3 ] && [ -n "$(tasks "${2:-}")" ]; }
starts() { cat "$dir"/node?.log | grep -c "^node[0-9]: $1-shards-.* is process"; }
clear() {
	steps=
	kubectl -n maps delete --ignore-not-found -f "$dir/$name.yaml" >/dev/null
	rm -rf "${dir:?}/work/$name"
}

# judge compares with one machine.
judge() {
	within 900 stepped
	wait "$steps"
	steps=
	within 900 ended "$name"
	case $(condition "$name") in *Complete:*) ;; *)
		echo "$name: the last cook is $(condition "$name")" >&2
		return 1
		;;
	esac
	diff -r -x .untold "$dir/want" "$dir/work/$name/out"
	echo "$name: the bytes of one machine; shards: $(status "$name-shards" succeeded) succeeded, $(status "$name-shards" failed || true) failed, $(starts "$name") pods"
}

for n in ${SHARDS:-1 2 7}; do
	submit "$n" "shards-$n" --require-store
	judge
	clear
done

# The store in a bucket: the pods have its credentials from a secret.
if [ -n "${S3_PLACE:-}" ]; then
	kubectl -n maps create secret generic bucket --from-literal "AWS_ACCESS_KEY_ID=$AWS_ACCESS_KEY_ID" --from-literal "AWS_SECRET_ACCESS_KEY=$AWS_SECRET_ACCESS_KEY" \
		--from-literal "AWS_ENDPOINT_URL=$AWS_ENDPOINT_URL" --from-literal "AWS_REGION=$AWS_REGION" >/dev/null
	submit 4 bucket --require-store --secret bucket
	judge
	clear
fi

# A pod dies in the middle: its shard is tried again, and no other.
submit 8 lost-pod --require-store
within 300 begun lost-pod
within 300 dies
judge
tries=$(kubectl -n maps get pods -l "batch.kubernetes.io/job-name=lost-pod-shards,batch.kubernetes.io/job-completion-index=$index" -o name | wc -l)
if [ "$tries" != 2 ] || [ "$(status lost-pod-shards failed)" != 1 ] || [ "$(starts lost-pod)" != 9 ]; then
	echo "shard $index was killed and had $tries pods" >&2
	exit 1
fi
clear

# A node goes, with its pods: these count as no failure, without any retries too.
submit 8 lost-node --require-store --retries 0
within 300 begun lost-node node2
mapfile -t running < <(tasks node2)
kill -9 "${pids[node2]}" "${running[@]}" 2>/dev/null || true
kubectl delete node node2 >/dev/null
echo "lost-node: node2 is gone, with ${#running[@]} pods; the store has $(results lost-node) files"
judge
if [ -n "$(status lost-node-shards failed)" ] || [ "$(starts lost-node)" -le 8 ]; then
	echo "no pod of the lost node was run again, or it counts as a failure" >&2
	exit 1
fi
clear
node 2
within 30 nodes

# With --require-store a lost shard is the end of it.
submit 8 required --require-store --retries 0
within 300 begun required
within 300 dies
within 300 stepped
if wait "$steps" || [[ $(condition required-shards) != *Failed:FailedIndexes* ]] || [[ $(condition required) != *Suspended:* ]] || [ -e "$dir/work/required/out" ]; then
	echo "required: a shard was killed; shards: $(condition required-shards), last cook: $(condition required)" >&2
	exit 1
fi
echo "required: a shard was killed, the last cook did not start"
clear

# A scene at fault is tried once, and the jobs go when their time is over.
echo "no scene" >"$dir/scenes/fault.glb"
of=$dir/scenes/fault.glb submit 4 fault --require-store --plan none --ttl 1s
within 300 stepped
failed() { ! kubectl -n maps get job/fault-shards >/dev/null 2>&1; }
within 60 failed
[ "$(starts fault)" -le 4 ] || {
	echo "fault: $(starts fault) pods for 4 shards of a scene at fault" >&2
	exit 1
}
echo "fault: $(starts fault) pods, then the job failed, and went"
clear

# Pods are killed, deleted or evicted, one after another as the store grows.
kills=0 run=0
more() {
	stepped || { [ "$(results "$1")" -ge "$2" ] && [ -n "$(tasks)" ]; }
}
while [ $kills -lt "${KILLS:-8}" ]; do
	run=$((run + 1)) killed=0
	[ $run -le 20 ] || {
		echo "20 runs, and $kills pods were killed" >&2
		exit 1
	}
	submit 8 "kills-$run"
	while [ $killed -lt 4 ] && [ $((kills + killed)) -lt "${KILLS:-8}" ]; do
		within 900 more "$name" $(($(results "$name") + 1 + RANDOM % 20))
		mapfile -t running < <(tasks)
		[ ${#running[@]} -gt 0 ] || break
		victim=${running[RANDOM % ${#running[@]}]}
		pod=$(variable "$victim" HOSTNAME)
		[ -n "$pod" ] || continue
		case $((RANDOM % 4)) in
		0) kill -TERM "$victim" 2>/dev/null || continue ;;
		1) kill -KILL "$victim" 2>/dev/null || continue ;;
		2) kubectl -n maps delete pod "$pod" --wait=false >/dev/null 2>&1 || continue ;;
		3) kubectl create --raw "/api/v1/namespaces/maps/pods/$pod/eviction" -f - >/dev/null 2>&1 <<EOF || continue ;;
{"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "$pod", "namespace": "maps"}}
EOF
		esac
		killed=$((killed + 1))
	done
	kills=$((kills + killed))
	echo "$name: $killed pods were killed, deleted or evicted"
	judge
	clear
done
echo "$kills kills, runs: $run: the same bytes every time"

#!/bin/bash
# Runs what untold farm slurm prints on a Slurm cluster of its own: munged, slurmctld and
# four slurmd on loopback, with ports and a state folder of their own. Cooks a city by
# arrays of shards, kills a node in the middle of one and tasks in others, and compares
# every result with the cook of one machine, byte for byte.
#
#   SHARDS="1 2 7 64"  numbers of shards of runs in which nothing is killed
#   KILLS=20           tasks that are killed, over several runs
#   SEED=1             which ones, as far as the timing lets it decide
#   BLOCKS=3           size of the city
#   KEEP=1             leaves the folder with the logs
set -euo pipefail
cd "$(dirname "$0")/.."
go=${GO:-go}
PATH=$PATH:/usr/sbin:/sbin

for tool in munged slurmctld slurmd sbatch scontrol squeue; do
	command -v "$tool" >/dev/null || {
		echo "$0: there is no $tool: apt-get install slurm-wlm munge" >&2
		exit 2
	}
done
[ "$(id -u)" = 0 ] || {
	echo "$0: slurmd starts tasks in the name of users and needs root" >&2
	exit 2
}

dir=$(mktemp -d "${TMPDIR:-/tmp}/untold-slurm.XXXXXX")
chmod 755 "$dir" # munge wants its socket to be reached
RANDOM=${SEED:-1}
declare -A pids=()
for name in $(env | sed -n 's/^\(\(SLURM\|SBATCH\|SQUEUE\|SINFO\|UNTOLD\)_[A-Z_]*\)=.*/\1/p'); do unset "$name"; done
export SLURM_CONF=$dir/slurm.conf

# ours lists the processes that this cluster has started: those with its configuration in
# their environment, and with the other variables that are named.
ours() {
	local files=(/proc/[0-9]*/environ) value
	for value in "SLURM_CONF=$SLURM_CONF" "$@"; do
		mapfile -t files < <(grep -lzxF -e "$value" "${files[@]}" 2>/dev/null)
		[ ${#files[@]} -gt 0 ] || return 0
	done
	printf '%s\n' "${files[@]}" | cut -d/ -f3
}

# tasks lists the cooks of shards that run on a node, or on all.
tasks() {
	local pid
	for pid in $(ours ${1:+"SLURMD_NODENAME=$1"}); do
		if [ "$(readlink "/proc/$pid/exe" 2>/dev/null)" = "$dir/untold" ] && grep -qz ^SLURM_ARRAY_TASK_ID= "/proc/$pid/environ" 2>/dev/null; then
			echo "$pid"
		fi
	done
}
# variable is one of a process's, or nothing where the process has ended.
variable() { { tr '\0' '\n' <"/proc/$1/environ" | sed -n "s/^$2=//p"; } 2>/dev/null || true; }

gone() {
	local pid
	for pid in "${pids[@]}"; do [ ! -d "/proc/$pid" ] || return 1; done
}

finish() {
	local rc=$? name pid
	trap - EXIT
	set +e
	if [ $rc -ne 0 ]; then
		echo "--- failed; the ends of the logs:" >&2
		tail -n 15 "$dir"/*.log >&2
		squeue >&2 2>/dev/null
	fi
	scancel --user=root >/dev/null 2>&1
	for name in node0 node1 node2 node3 slurmctld munged; do
		[ -z "${pids[$name]:-}" ] || kill "${pids[$name]}" 2>/dev/null
	done
	for pid in $(ours); do
		[ "$pid" = $$ ] || [ "$pid" = $BASHPID ] || kill -9 "$pid" 2>/dev/null
	done
	within 20 gone >/dev/null 2>&1
	if [ -n "${KEEP:-}" ]; then
		echo "logs are in $dir"
	else
		rm -rf "$dir"
	fi
	exit $rc
}
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

# A cluster of four nodes, which are this machine.
base=${SLURM_PORTS:-26800}
start() { # NAME COMMAND...
	local name=$1
	shift
	"$@" >>"$dir/$name.log" 2>&1 &
	pids[$name]=$!
	disown # that one of them is killed is no news
}
mkdir "$dir/state" "$dir/munge"
chmod 755 "$dir/munge"
(umask 077 && head -c 1024 /dev/urandom >"$dir/munge/key")
cat >"$SLURM_CONF" <<EOF
ClusterName=untold
SlurmctldHost=$(hostname -s)(127.0.0.1)
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SlurmUser=root
SlurmctldPort=$base
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$dir/munge/socket
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/%n
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
MpiDefault=none
SwitchType=switch/none
SlurmdTimeout=6
ReturnToService=2
KillWait=2
MinJobAge=86400
EOF
for i in 0 1 2 3; do
	mkdir "$dir/node$i"
	echo "NodeName=node$i NodeAddr=127.0.0.1 NodeHostname=localhost Port=$((base + 1 + i)) CPUs=2 RealMemory=1000" >>"$SLURM_CONF"
done
echo "PartitionName=all Nodes=node[0-3] Default=YES MaxTime=INFINITE State=UP" >>"$SLURM_CONF"
echo "CgroupPlugin=cgroup/v1" >"$dir/cgroup.conf"

node() { start "node$1" slurmd -D -N "node$1"; }
idle() { [ "$(sinfo -h -t idle,mixed,allocated -o %D 2>/dev/null | awk '{n += $1} END {print n + 0}')" = "$1" ]; }
munge_is_up() { munge -n -S "$dir/munge/socket" >/dev/null 2>&1; }

start munged munged --foreground --key-file="$dir/munge/key" --socket="$dir/munge/socket" --pid-file="$dir/munge/pid" --seed-file="$dir/munge/seed" --log-file="$dir/munged.log"
within 20 munge_is_up
start slurmctld slurmctld -D -i
for i in 0 1 2 3; do node $i; done
within 60 idle 4
echo "slurm $(slurmctld -V | cut -d' ' -f2): 4 nodes"

# The scene, and what one machine makes of it.
flags=(--tile-size 40 --whole-limit 0 -q)
"$go" build -o "$dir/untold" ./cmd/untold
"$go" run ./scripts/gen -blocks "${BLOCKS:-3}" -o "$dir/the city.glb"
"$dir/untold" cook "$dir/the city.glb" -o "$dir/want" "${flags[@]}" 2>/dev/null

# submit N NAME [OPTION...] sets shards and last, the numbers of the jobs.
submit() {
	local n=$1 name=$2 said
	shift 2
	"$dir/untold" farm slurm "$dir/the city.glb" -o "$dir/$name/out" --store "$dir/$name/store" --shards "$n" --program "$dir/untold" "$@" -- "${flags[@]}" >"$dir/$name.sh"
	said=$(cd "$dir" && sh "$dir/$name.sh")
	read -r shards last < <(sed -n 's/^submitted: plan [0-9]*, shards \([0-9]*\), last cook \([0-9]*\)$/\1 \2/p' <<<"$said") || {
		echo "$name: the script said: $said" >&2
		return 1
	}
}
state() { scontrol -o show job "$1" 2>/dev/null | sed -n 's/.* JobState=\([A-Z_]*\) .*/\1/p'; }
ended() { case $(state "$last") in COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL | OUT_OF_MEMORY) ;; *) return 1 ;; esac; }
hurry() { # requeued tasks are put off by two minutes
	scontrol -o show job "$shards" 2>/dev/null | sed -n 's/^JobId=\([0-9]*\) .*JobState=PENDING Reason=BeginTime.*/\1/p' |
		while read -r id; do scontrol update "JobId=$id" StartTime=now || true; done
}
ended_in_time() {
	hurry
	ended
}
results() { find "$dir/$1/store" -type f 2>/dev/null | wc -l; }
restarts() { scontrol -o show job "$shards" | sed -n 's/.* Restarts=\([0-9]*\) .*/\1/p' | awk '{n += $1} END {print n + 0}'; }

# judge NAME compares with one machine.
judge() {
	within 900 ended_in_time
	if [ "$(state "$last")" != COMPLETED ]; then
		echo "$1: the last cook is $(state "$last")" >&2
		cat "$dir"/slurm-*.out >&2
		return 1
	fi
	diff -r -x .untold "$dir/want" "$dir/$1/out"
	local states
	states=$(scontrol -o show job "$shards" | sed -n 's/.* JobState=\([A-Z_]*\) .*/\1/p' | sort | uniq -c | tr -s ' \n' ' ')
	echo "$1: the bytes of one machine; tasks:$states, restarts: $(restarts); last cook: $(grep taken "$dir/slurm-$last.out" || echo 'made all by itself')"
	rm -rf "${dir:?}/$1"
}

for n in ${SHARDS:-1 2 7 64}; do
	submit "$n" "shards-$n" --require-store
	judge "shards-$n"
done

# A node goes, with its tasks, when the store has some results.
begun() { [ "$(results "$1")" -ge 3 ] && [ -n "$(tasks "${2:-}")" ]; }
submit 8 lost-node
within 300 begun lost-node node2
gone=("${pids[node2]}")
for pid in $(tasks node2); do
	# A task's parent is the slurmstepd that looks after it.
	parent=$(ps -o ppid= -p "$pid" | tr -d ' ') || continue # it has ended
	gone+=("$parent" "$pid")
done
kill -9 "${gone[@]}" 2>/dev/null || true
echo "lost-node: node2 is gone, with $(((${#gone[@]} - 1) / 2)) tasks; the store has $(results lost-node) files"
judge lost-node
[ "$(restarts)" -gt 0 ] || {
	echo "no task of the lost node was run again" >&2
	exit 1
}
node 2
within 60 idle 4

# With --require-store a lost shard is the end of it.
submit 8 required --require-store
within 300 begun required
killed() {
	mapfile -t running < <(tasks)
	[ ${#running[@]} -gt 0 ] || return 1
	index=$(variable "${running[0]}" SLURM_ARRAY_TASK_ID)
	[ -n "$index" ] && kill -KILL "${running[0]}" 2>/dev/null
}
within 300 killed
within 300 ended_in_time
if [ "$(state "$last")" != CANCELLED ] || [ -e "$dir/required/out" ]; then
	echo "required: shard $index was killed, and the last cook is $(state "$last")" >&2
	scontrol -o show job "$shards" >&2
	exit 1
fi
echo "required: shard $index was killed, the last cook was cancelled"
rm -rf "$dir/required"

# Tasks are killed, or sent back into the queue, one after another as the store grows.
kills=0 run=0
more() {
	ended_in_time || { [ "$(results "$1")" -ge "$2" ] && [ -n "$(tasks)" ]; }
}
while [ $kills -lt "${KILLS:-20}" ]; do
	run=$((run + 1)) name=kills-$run killed=0
	[ $run -le 40 ] || {
		echo "40 runs, and $kills tasks were killed" >&2
		exit 1
	}
	submit 8 "$name"
	while [ $killed -lt 6 ] && [ $((kills + killed)) -lt "${KILLS:-20}" ]; do
		within 900 more "$name" $(($(results "$name") + 1 + RANDOM % 20))
		mapfile -t running < <(tasks)
		[ ${#running[@]} -gt 0 ] || break
		victim=${running[RANDOM % ${#running[@]}]}
		index=$(variable "$victim" SLURM_ARRAY_TASK_ID)
		[ -n "$index" ] || continue
		case $((RANDOM % 3)) in
		0) scontrol requeue "${shards}_$index" 2>/dev/null || continue ;;
		1) kill -TERM "$victim" 2>/dev/null || continue ;;
		2) kill -KILL "$victim" 2>/dev/null || continue ;;
		esac
		killed=$((killed + 1))
	done
	kills=$((kills + killed))
	echo "$name: $killed tasks were killed or sent back"
	judge "$name"
done
echo "$kills kills, runs: $run: the same bytes every time"

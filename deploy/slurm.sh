#!/bin/sh
# untold farm slurm /srv/scenes/city.glb --cpus 4 --memory 8GiB -o /srv/cooked/city --shards 16 --store /srv/store --time 2h -- --tile-size 50

# Submits an array of 16 shards and a last cook. Run it where sbatch is, in the folder that
# relative paths start from. Its arguments, such as --account=NAME, go to all.
#
# The last cook starts when all shards have ended, also if some failed: a lost shard costs time
# only, since the last cook makes what is missing. Submit this again after a failure: what the
# store has is not made again.
#
# The scene is planned once, by a job that the shards wait for; they are cancelled if it fails.
set -eu

plan=$(sbatch --parsable "$@" <<'EOF'
#!/bin/sh
#SBATCH --job-name=untold-city-plan
#SBATCH --requeue
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8192M
#SBATCH --time=02:00:00
exec untold cook /srv/scenes/city.glb --store /srv/store --dry-run --plan /srv/cooked/city.plan --tile-size 50 --jobs "${SLURM_CPUS_PER_TASK:-4}"
EOF
)
plan=${plan%%;*}

shards=$(sbatch --parsable "$@" --dependency="afterok:$plan" --kill-on-invalid-dep=yes <<'EOF'
#!/bin/sh
#SBATCH --job-name=untold-city-shards
#SBATCH --array=0-15
#SBATCH --requeue
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8192M
#SBATCH --time=02:00:00
exec untold cook /srv/scenes/city.glb --store /srv/store --shard "$SLURM_ARRAY_TASK_ID/16" --plan /srv/cooked/city.plan --tile-size 50 --jobs "${SLURM_CPUS_PER_TASK:-4}"
EOF
) || {
	scancel "$plan"
	exit 1
}
shards=${shards%%;*}

last=$(sbatch --parsable "$@" --dependency="afterany:$shards" <<'EOF'
#!/bin/sh
#SBATCH --job-name=untold-city
#SBATCH --requeue
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
#SBATCH --mem=8192M
#SBATCH --time=02:00:00
exec untold cook /srv/scenes/city.glb -o /srv/cooked/city --store /srv/store --plan /srv/cooked/city.plan --tile-size 50 --jobs "${SLURM_CPUS_PER_TASK:-4}"
EOF
) || {
	scancel "$plan" "$shards"
	exit 1
}
echo "submitted: plan $plan, shards $shards, last cook ${last%%;*}"

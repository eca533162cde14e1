package farm

import (
	"fmt"
	"regexp"
	"strings"
)

// partitions are names that Slurm takes without quotes, with commas between.
var partitions = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_.,-]*$`)

// Slurm is a script for sh that submits an array of shards and the last cook, which
// waits for them. Arguments of the script are options of both sbatch commands. An empty
// partition leaves the choice to Slurm.
func Slurm(j Job, partition string) (string, error) {
	if err := j.check(); err != nil {
		return "", err
	}
	if partition != "" && !partitions.MatchString(partition) {
		return "", fmt.Errorf("farm: %q is no partition of Slurm, nor several with commas between", partition)
	}
	var b strings.Builder
	b.WriteString("#!/bin/sh\n" + j.header())
	dependency := "--dependency=\"afterany:$shards\""
	note := `# The last cook starts when all shards have ended, also if some failed: a lost shard costs time
# only, since the last cook makes what is missing. Submit this again after a failure: what the
# store has is not made again.`
	if j.RequireStore {
		dependency = "--dependency=\"afterok:$shards\" --kill-on-invalid-dep=yes"
		note = `# The last cook starts when all shards have succeeded, and is cancelled if one fails. Submit
# this again then: what the store has is not made again.`
	}
	plan, after, planned, all := "", "", "", `"$shards"`
	if j.Plan != "" {
		note += `
#
# The scene is planned once, by a job that the shards wait for; they are cancelled if it fails.`
		plan = "plan=$(sbatch --parsable \"$@\" <<'EOF'\n" + j.slurmPlan(partition) + "EOF\n)\nplan=${plan%%;*}\n\n"
		after, planned, all = ` --dependency="afterok:$plan" --kill-on-invalid-dep=yes`, "plan $plan, ", `"$plan" "$shards"`
	}
	fmt.Fprintf(&b, `
# Submits an array of %d shards and a last cook. Run it where sbatch is, in the folder that
# relative paths start from. Its arguments, such as --account=NAME, go to all.
#
%s
set -eu

%sshards=$(sbatch --parsable "$@"%s <<'EOF'
%sEOF
)%s
shards=${shards%%%%;*}

last=$(sbatch --parsable "$@" %s <<'EOF'
%sEOF
) || {
	scancel %s
	exit 1
}
echo "submitted: %sshards $shards, last cook ${last%%%%;*}"
`, j.Shards, note, plan, after, j.slurmShards(partition), j.slurmCancelPlan(), dependency, j.slurmLast(partition), all, planned)
	return b.String(), nil
}

// slurmShards is the batch script of a shard.
func (j *Job) slurmShards(partition string) string {
	array := fmt.Sprintf("0-%d", j.Shards-1)
	if j.AtOnce > 0 {
		array += fmt.Sprintf("%%%d", j.AtOnce)
	}
	// The number of a task is that of its shard also when a part of the array runs again,
	// which --shard auto would take for a smaller array.
	line := Line(j.Program, "cook", j.Scene, "--store", j.Store, "--shard") + fmt.Sprintf(` "$SLURM_ARRAY_TASK_ID/%d"`, j.Shards)
	if more := j.follow(); len(more) > 0 {
		line += " " + Line(more...)
	}
	return "#!/bin/sh\n#SBATCH --job-name=" + j.Name + "-shards\n#SBATCH --array=" + array + "\n#SBATCH --requeue\n" +
		j.slurmResources(partition) + "exec " + line + j.slurmJobs() + "\n"
}

// slurmPlan is the batch script that writes the plan.
func (j *Job) slurmPlan(partition string) string {
	return "#!/bin/sh\n#SBATCH --job-name=" + j.Name + "-plan\n#SBATCH --requeue\n" + j.slurmResources(partition) + "exec " + Line(j.plan()...) + j.slurmJobs() + "\n"
}

// slurmCancelPlan ends the plan where the shards cannot be submitted.
func (j *Job) slurmCancelPlan() string {
	if j.Plan == "" {
		return ""
	}
	return " || {\n\tscancel \"$plan\"\n\texit 1\n}"
}

// slurmLast is the batch script of the last cook.
func (j *Job) slurmLast(partition string) string {
	line := Line(j.last()...)
	return "#!/bin/sh\n#SBATCH --job-name=" + j.Name + "\n#SBATCH --requeue\n" + j.slurmResources(partition) + "exec " + line + j.slurmJobs() + "\n"
}

// slurmJobs ends a cook's line: as many jobs as processors, also when these are changed in
// the script or where it is submitted.
func (j *Job) slurmJobs() string {
	return fmt.Sprintf(` --jobs "${SLURM_CPUS_PER_TASK:-%d}"`, j.CPUs)
}

// slurmResources are the lines that ask for what a task takes.
func (j *Job) slurmResources(partition string) string {
	lines := fmt.Sprintf("#SBATCH --ntasks=1\n#SBATCH --cpus-per-task=%d\n", j.CPUs)
	if j.Memory > 0 {
		const mib = 1 << 20
		lines += fmt.Sprintf("#SBATCH --mem=%dM\n", (j.Memory-1)/mib+1)
	}
	if j.Time > 0 {
		lines += "#SBATCH --time=" + slurmTime(j.Time) + "\n"
	}
	if partition != "" {
		lines += "#SBATCH --partition=" + partition + "\n"
	}
	return lines
}

// slurmTime are seconds as Slurm reads them, [DAYS-]HH:MM:SS.
func slurmTime(s int64) string {
	text := fmt.Sprintf("%02d:%02d:%02d", s/3600%24, s/60%60, s%60)
	if days := s / 86400; days > 0 {
		text = fmt.Sprintf("%d-%s", days, text)
	}
	return text
}

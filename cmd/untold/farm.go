package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/untoldkit/untold/cook"
	"github.com/untoldkit/untold/cook/farm"
	"github.com/untoldkit/untold/internal/blob"
)

// farmFlags are those that all kinds of farms share.
type farmFlags struct {
	job    farm.Job
	memory byteSize
	time   time.Duration

	planGiven bool // where the plan lies is no default
}

// newFarm is untold farm: what is handed to a system of many machines.
func newFarm(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "farm",
		Short:   "Print the job that cooks a scene on many machines",
		GroupID: "make",
		Long: `farm prints, to stdout, a job in which a first step plans a scene, shards make a share of its
tiles each and put them into a store, and a last cook takes them together and writes the scene.
The result has the bytes of a cook on one machine. It starts nothing and does not read the scene.

Flags of untold cook stand behind --; they hold for all shards and for the last cook, and are
judged at once. Paths are those of the machines that cook. A shard that fails costs time only: the
last cook makes what it has not. With --require-store that is an error instead.

docs/scale.md tells when many machines pay, deploy/README.md how the jobs are run.`,
		Example: "  untold farm slurm city.glb -o out/city --store /shared/store --shards 16 > city.sh\n" +
			"  untold farm shell city.glb -o out/city --store /tmp/store --shards 4 -- --tile-size 50 --hlod | sh",
	}
	cmd.AddCommand(newFarmSlurm(a), newFarmKubernetes(a), newFarmShell(a))
	return cmd
}

// command makes a kind of farm; write returns what is printed.
func (f *farmFlags) command(a *app, kind, short, long, example string, write func() (string, error)) *cobra.Command {
	cmd := &cobra.Command{
		Use:     kind + " SCENE -o DIR --store PLACE --shards N [-- COOK FLAGS]",
		Short:   short,
		Long:    long,
		Example: example,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := oneScene(cmd, args); err != nil {
				return err
			}
			if err := f.resolve(cmd, a, args); err != nil {
				return err
			}
			text, err := write()
			if err != nil {
				return err
			}
			_, err = io.WriteString(a.stdout, text)
			return err
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.job.Out, "output", "o", "", "the folder that the last cook writes")
	fl.StringVar(&f.job.Store, "store", "", "the store, which all machines reach: a folder or s3://BUCKET/PREFIX")
	fl.IntVar(&f.job.Shards, "shards", 0, fmt.Sprintf("shards, at most %d; a few for each machine's time, not one for each tile", farm.MaxShards))
	fl.BoolVar(&f.job.RequireStore, "require-store", false, "no last cook if a shard fails, instead of one that makes what is missing")
	fl.StringVar(&f.job.Plan, "plan", "", "the file for the plan, which all machines reach, ending in .plan, or none: every shard plans for itself (default: the output folder's name and .plan)")
	fl.StringVar(&f.job.Program, "program", "untold", "the program, as the machines find it")
	fl.IntVar(&f.job.CPUs, "cpus", 1, "processors of a shard, and tiles that it makes at a time")
	for _, name := range []string{"output", "store", "shards"} {
		if err := cmd.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return cmd
}

// queued adds the flags of systems that run shards when there is room.
func (f *farmFlags) queued(fl *pflag.FlagSet) {
	fl.StringVar(&f.job.Name, "name", "", "name of the job (default: from the scene's)")
	fl.Var(&f.memory, "memory", "main memory of a shard and of the last cook, such as 8GiB (default: what the system gives)")
	fl.Var(timeVar(&f.time), "time", "the longest that a shard or the last cook may take, such as 2h (default: what the system gives)")
	fl.IntVar(&f.job.AtOnce, "at-once", 0, "shards that may run at a time (default: all)")
}

// oneScene wants a scene before -- and nothing else there.
func oneScene(cmd *cobra.Command, args []string) error {
	n := cmd.ArgsLenAtDash()
	if n < 0 {
		n = len(args)
	}
	switch {
	case n == 0:
		return fmt.Errorf("no SCENE was given before any --: %s (see %s --help)", cmd.UseLine(), cmd.CommandPath())
	case n > 1:
		return fmt.Errorf("%q is one argument too many: a farm cooks one scene, and flags of untold cook stand behind --", args[1])
	}
	return nil
}

// resolve fills the job and has the cooks that it consists of judge their flags.
func (f *farmFlags) resolve(cmd *cobra.Command, a *app, args []string) error {
	j := &f.job
	j.Scene, j.Flags, j.Memory, j.Time = args[0], args[1:], int64(f.memory), seconds(f.time)
	if j.Name == "" {
		j.Name = farm.NameOf(j.Scene)
	}
	if a.config != "" {
		j.Flags = append([]string{"--config", a.config}, j.Flags...)
	}
	if _, err := blob.ParseAddress(j.Store); err != nil {
		return fmt.Errorf("--store: %w", err)
	}
	f.planGiven = j.Plan != ""
	switch j.Plan {
	case "":
		j.Plan = strings.TrimRight(j.Out, "/") + cook.PlanExt
	case "none":
		j.Plan = ""
	}
	if j.Plan != "" && !followed(j.Plan) {
		return fmt.Errorf("--plan %s: its name must end in %s, or it is none", j.Plan, cook.PlanExt)
	}
	for _, flags := range [][]string{{"--shard", "0/1"}, {"-o", j.Out}} {
		if err := judgeCook(cmd.Context(), j.Scene, append([]string{"--store", j.Store}, flags...), args[1:], a.config); err != nil {
			return fmt.Errorf("flags of cook: %w", err)
		}
	}
	j.Command = farmCommand(cmd, args)
	return nil
}

// farmOwn are flags of cook that the job sets itself, or that have no sense in one.
var farmOwn = map[string]string{
	"output":        "it is a flag of untold farm, and stands before --",
	"store":         "it is a flag of untold farm, and stands before --",
	"require-store": "it is a flag of untold farm, and stands before --",
	"jobs":          "--cpus, before --, says how many tiles a shard makes at a time",
	"shard":         "the job says which shard is which",
	"full":          "the last cook would make everything anew, and nothing that the shards have made is taken",
	"dry-run":       "shards are there to cook",
	"plan":          "it is a flag of untold farm, and stands before --",
	"fail-if":       "shards know their share alone; judge the scene with untold validate --fail-if when all is done",
	"report":        "shards write to the store alone; cook once more with --report when all is done",
	"help":          "see untold cook --help",
}

// judgeCook has a cook judge its flags, without looking at the scene.
func judgeCook(ctx context.Context, scene string, own, flags []string, config string) error {
	a := &app{stdout: io.Discard, stderr: io.Discard, flagsOnly: true}
	root := newRoot(a)
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	cook, _, err := root.Find([]string{"cook"})
	if err != nil {
		return err
	}
	// The flags alone first, so that those of the job are not taken for the user's.
	cook.InitDefaultHelpFlag()
	if err := cook.ParseFlags(flags); err != nil {
		return cook.FlagErrorFunc()(cook, err)
	}
	var refused error
	cook.Flags().Visit(func(f *pflag.Flag) {
		if why, ok := farmOwn[f.Name]; ok && refused == nil {
			refused = fmt.Errorf("--%s: %s", f.Name, why)
		}
	})
	if refused != nil {
		return refused
	}
	if rest := cook.Flags().Args(); len(rest) > 0 {
		return fmt.Errorf("%q is no flag, and the scene stands before --", rest[0])
	}
	if config != "" {
		own = append(own, "--config", config)
	}
	fresh := newRoot(a)
	fresh.SetOut(io.Discard)
	fresh.SetErr(io.Discard)
	fresh.SetArgs(append(append([]string{"cook", scene}, own...), flags...))
	if err := fresh.ExecuteContext(ctx); err != nil {
		return err
	}
	if !a.flagsJudged {
		return errors.New("with these nothing is cooked")
	}
	return nil
}

// farmCommand is the command line that asks for the same job.
func farmCommand(cmd *cobra.Command, args []string) string {
	words := append(strings.Fields(cmd.CommandPath()), args[0])
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch v := f.Value.(type) {
		case pflag.SliceValue:
			for _, one := range v.GetSlice() {
				words = append(words, "--"+f.Name, one)
			}
		default:
			switch {
			case f.Name == "output":
				words = append(words, "-o", v.String())
			case f.Name == "memory":
				words = append(words, "--memory", sizeText(int64(*v.(*byteSize))))
			case f.Value.Type() == "seconds":
				words = append(words, "--"+f.Name, durationText(v.String()))
			case f.Value.Type() == "bool" && v.String() == "true":
				words = append(words, "--"+f.Name)
			case f.NoOptDefVal != "": // its value is no word of its own
				words = append(words, "--"+f.Name+"="+v.String())
			default:
				words = append(words, "--"+f.Name, v.String())
			}
		}
	})
	if len(args) > 1 {
		words = append(append(words, "--"), args[1:]...)
	}
	return farm.Line(words...)
}

// sizeText writes bytes as --memory reads them.
func sizeText(n int64) string {
	for _, u := range byteUnits {
		if whole := int64(u.bytes); strings.HasSuffix(u.name, "IB") && n%(whole<<10) != 0 && n%whole == 0 {
			return fmt.Sprintf("%d%siB", n/whole, u.name[:1])
		}
	}
	return strconv.FormatInt(n, 10)
}

// durationText leaves out minutes and seconds that are none.
func durationText(s string) string {
	if short, ok := strings.CutSuffix(s, "m0s"); ok {
		s = short + "m"
	}
	if short, ok := strings.CutSuffix(s, "h0m"); ok {
		s = short + "h"
	}
	return cmp.Or(s, "0")
}

func newFarmSlurm(a *app) *cobra.Command {
	var f farmFlags
	var partition string
	cmd := f.command(a, "slurm", "Print a script that submits to Slurm",
		`slurm prints a script that submits, by sbatch, a job that plans, an array of shards that waits for
it, and a last cook that waits for all of them. Arguments of the script are further options of
sbatch. Relative paths start at the folder from which it is submitted.`,
		"  untold farm slurm city.glb -o out/city --store /shared/store --shards 16 --cpus 4 --memory 8GiB > city.sh\n"+
			"  sh city.sh --account=maps",
		func() (string, error) { return farm.Slurm(f.job, partition) })
	f.queued(cmd.Flags())
	cmd.Flags().StringVar(&partition, "partition", "", "partition of the machines (default: Slurm's)")
	return cmd
}

func newFarmKubernetes(a *app) *cobra.Command {
	var f farmFlags
	var volumes []string
	c := farm.Cluster{Retries: 3}
	user, keep := "1000", 24*time.Hour
	cmd := f.command(a, "kubernetes", "Print a manifest of Kubernetes",
		`kubernetes prints a manifest with a Job that plans, an Indexed Job of shards and a Job of the last
cook, and in its first lines the commands that apply it, wait and let the next one start. It needs
Kubernetes 1.29 or later and fits the restricted security standard. Paths are those in the
containers; the output folder has to lie in a volume.`,
		"  untold farm kubernetes /scenes/city.glb -o /out/city --store s3://builds/store --shards 16 \\\n"+
			"    --image registry.example.com/untold:1 --pvc scenes:/scenes:ro --pvc out:/out > city.yaml",
		func() (string, error) {
			var err error
			if c.Volumes, err = parseVolumes(volumes); err != nil {
				return "", err
			}
			if c.User, c.Group, err = parseUser(user); err != nil {
				return "", err
			}
			c.Keep = seconds(keep)
			if plan := f.job.Plan; plan != "" && !f.planGiven && !c.Keeps(plan) {
				a.info("note: there is no step that plans, since %s would lie in no volume: --plan FILE names one that does", plan)
				f.job.Plan = ""
			}
			return farm.Kubernetes(f.job, c)
		})
	f.queued(cmd.Flags())
	fl := cmd.Flags()
	fl.StringVar(&c.Image, "image", "", "image of a container that has the program (required)")
	fl.StringVar(&c.Namespace, "namespace", "", "namespace of the jobs (default: that of kubectl)")
	fl.StringArrayVar(&volumes, "pvc", nil, "a claim of a volume and where containers see it, CLAIM:PATH or CLAIM:PATH:ro; may be given again")
	fl.StringVar(&c.Secret, "secret", "", "a secret whose keys become variables: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_ENDPOINT_URL, AWS_REGION")
	fl.StringVar(&c.ServiceAccount, "service-account", "", "service account of the pods, such as one with a role for the bucket")
	fl.StringVar(&user, "user", user, "UID or UID:GID that containers run as")
	fl.IntVar(&c.Retries, "retries", c.Retries, "times that a shard, or the last cook, is tried again")
	fl.Var(timeVar(&keep), "ttl", "how long the jobs and their logs stay when they have ended (0: until they are deleted)")
	if err := cmd.MarkFlagRequired("image"); err != nil {
		panic(err)
	}
	return cmd
}

// seconds rounds up.
func seconds(d time.Duration) int64 {
	s := int64(d / time.Second)
	if d%time.Second > 0 {
		s++
	}
	return s
}

// parseVolumes reads CLAIM:PATH and CLAIM:PATH:ro.
func parseVolumes(list []string) (out []farm.Volume, err error) {
	for _, text := range list {
		claim, path, ok := strings.Cut(text, ":")
		if !ok {
			return nil, fmt.Errorf("--pvc is %q; write CLAIM:PATH or CLAIM:PATH:ro", text)
		}
		path, readOnly := strings.CutSuffix(path, ":ro")
		if len(path) > 1 {
			path = strings.TrimSuffix(path, "/")
		}
		out = append(out, farm.Volume{Claim: claim, Path: path, ReadOnly: readOnly})
	}
	return out, nil
}

// parseUser reads UID or UID:GID.
func parseUser(text string) (user, group int64, err error) {
	first, second, both := strings.Cut(text, ":")
	if !both {
		second = first
	}
	user, err1 := strconv.ParseInt(first, 10, 64)
	group, err2 := strconv.ParseInt(second, 10, 64)
	if err1 != nil || err2 != nil {
		return 0, 0, fmt.Errorf("--user is %q; write UID or UID:GID", text)
	}
	return user, group, nil
}

func newFarmShell(a *app) *cobra.Command {
	var f farmFlags
	var lines bool
	cmd := f.command(a, "shell", "Print a script, or lines, for a shell",
		`shell prints a script that runs all shards beside each other on this machine and then the last
cook. With --lines it prints a line for every shard, for GNU parallel, xargs or a list of machines,
and the last cook, which comes when all have ended, on stderr. With --lines --plan FILE the line
that plans stands there, too, and has to end before the others begin; without --plan each line
plans for itself.`,
		"  untold farm shell city.glb -o out/city --store /tmp/store --shards 4 | sh\n"+
			"  untold farm shell city.glb -o out/city --store /shared/store --shards 64 --lines | parallel -S a,b,c",
		func() (string, error) {
			f.job.AtOnce = 0
			if !lines {
				return farm.Shell(f.job)
			}
			if !f.planGiven { // lines may start at once
				f.job.Plan = ""
			}
			plan, shards, last, err := farm.Lines(f.job)
			if err != nil {
				return "", err
			}
			if plan != "" {
				a.info("before all others: %s", plan)
			}
			a.info("when all have ended: %s", last)
			return strings.Join(shards, "\n") + "\n", nil
		})
	cmd.Flags().BoolVar(&lines, "lines", false, "a line for every shard instead of a script")
	return cmd
}

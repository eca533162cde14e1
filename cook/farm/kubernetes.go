package farm

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
)

// Volume is a claim of a volume and where containers see it.
type Volume struct {
	Claim    string
	Path     string // absolute
	ReadOnly bool
}

// Cluster is what a job of Kubernetes needs beside the job.
type Cluster struct {
	Image          string // of a container that has the program
	Namespace      string // "" is that of whoever applies the manifest
	Volumes        []Volume
	Secret         string // its keys become variables of the environment, "" is none
	ServiceAccount string // "" is the namespace's own
	User, Group    int64  // that containers run as, and that files belong to
	Retries        int    // of a shard and of the last cook
	Keep           int64  // seconds that the jobs stay when they have ended, 0 for ever
}

var (
	dnsLabel  = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`)
	dnsNames  = regexp.MustCompile(`^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$`)
	imageName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:@-]*$`)
)

// check refuses what a server would refuse, and paths that lead nowhere.
func (c *Cluster) check(j *Job) error {
	switch {
	case c.Image == "":
		return errors.New("farm: no image is named: one of a container that has untold")
	case !imageName.MatchString(c.Image):
		return fmt.Errorf("farm: %q is no name of an image", c.Image)
	case c.Namespace != "" && (!dnsLabel.MatchString(c.Namespace) || len(c.Namespace) > 63):
		return fmt.Errorf("farm: %q is no namespace: it is of a-z, 0-9 and hyphens, at most 63", c.Namespace)
	case c.User < 1 || c.Group < 1 || c.User > 1<<31-1 || c.Group > 1<<31-1:
		return fmt.Errorf("farm: user %d, group %d: containers run as numbers from 1 on, not as root", c.User, c.Group)
	case c.Retries < 0 || c.Retries > 100:
		return fmt.Errorf("farm: %d retries; there can be 0 to 100", c.Retries)
	case c.Keep < 0:
		return fmt.Errorf("farm: jobs are kept for %d seconds; it is 0 or more", c.Keep)
	}
	names := []string{c.Secret, c.ServiceAccount}
	for _, v := range c.Volumes {
		names = append(names, v.Claim)
		if v.Claim == "" || !path.IsAbs(v.Path) || path.Clean(v.Path) != v.Path || v.Path == "/" || v.Path == "/tmp" || strings.ContainsAny(v.Path, ":") {
			return fmt.Errorf("farm: the claim %q at %q: a claim has a name and an absolute path without colons, neither / nor /tmp", v.Claim, v.Path)
		}
		if strings.ContainsFunc(v.Path, unwritable) {
			return fmt.Errorf("farm: %q has a control character or ends a line", v.Path)
		}
	}
	for i, v := range c.Volumes {
		for _, w := range c.Volumes[:i] {
			if v.Path == w.Path {
				return fmt.Errorf("farm: two claims at %s", v.Path)
			}
		}
	}
	for _, n := range names {
		if n != "" && (!dnsNames.MatchString(n) || len(n) > 253) {
			return fmt.Errorf("farm: %q is no name of Kubernetes: these are of a-z, 0-9, hyphens and dots", n)
		}
	}
	return c.checkPaths(j)
}

// checkPaths refuses paths that are gone with a container, and those that it cannot write.
func (c *Cluster) checkPaths(j *Job) error {
	if !path.IsAbs(j.Scene) {
		return fmt.Errorf("farm: the scene %s: a container has no folder that it starts from, so name the path in the container, from / on", j.Scene)
	}
	for _, p := range []struct{ what, path string }{{"the output folder", j.Out}, {"the store", j.Store}, {"the plan", j.Plan}} {
		if p.path == "" || p.path == j.Store && strings.HasPrefix(p.path, "s3://") {
			continue
		}
		in := c.volumeOf(p.path)
		if in == nil {
			return fmt.Errorf("farm: %s, %s, lies in no volume and would be gone with the container: name a claim and where it is seen", p.what, p.path)
		}
		if in.ReadOnly {
			return fmt.Errorf("farm: %s, %s, lies in the volume of %s, which is read only", p.what, p.path, in.Claim)
		}
	}
	return nil
}

// Keeps reports whether what is written to a path is still there when a container is gone.
func (c *Cluster) Keeps(path string) bool {
	v := c.volumeOf(path)
	return v != nil && !v.ReadOnly
}

// volumeOf is the volume that a path lies in.
func (c *Cluster) volumeOf(p string) (in *Volume) {
	for i := range c.Volumes {
		v := &c.Volumes[i]
		if path.IsAbs(p) && strings.HasPrefix(path.Clean(p)+"/", v.Path+"/") && (in == nil || len(v.Path) > len(in.Path)) {
			in = v
		}
	}
	return in
}

// Kubernetes is a manifest with a Job of the plan, if there is one, an Indexed Job of shards
// and a suspended Job of the last cook, with the commands that apply it, wait, and let those
// start that wait for others. It needs Kubernetes 1.29 or later.
func Kubernetes(j Job, c Cluster) (string, error) {
	if err := j.check(); err != nil {
		return "", err
	}
	if err := c.check(&j); err != nil {
		return "", err
	}
	for _, text := range append([]string{j.Scene, j.Out, j.Store, j.Program, j.Plan}, j.Flags...) {
		if strings.ToValidUTF8(text, "") != text {
			return "", fmt.Errorf("farm: %q is not UTF-8, and a manifest holds nothing else", text)
		}
	}
	shards := j.Name + "-shards"
	atOnce := j.Shards
	if j.AtOnce > 0 {
		atOnce = j.AtOnce
	}
	var b strings.Builder
	b.WriteString(strings.ToValidUTF8(j.header(), "?") + c.steps(&j, shards))
	waits := ""
	if j.Plan != "" {
		b.WriteString(c.metadata(&j, j.Name+"-plan", "plan"))
		fmt.Fprintf(&b, "spec:\n  backoffLimit: %d\n", c.Retries)
		b.WriteString(c.template(&j, "plan", append(j.plan(), "--jobs", fmt.Sprint(j.CPUs)), 0) + "---\n")
		waits = "\n  suspend: true"
	}
	b.WriteString(c.metadata(&j, shards, "shard"))
	fmt.Fprintf(&b, `spec:%s
  completionMode: Indexed
  completions: %d
  parallelism: %d
  backoffLimitPerIndex: %d
  # A pod that a node loses, or has to give up, is no failure of its shard. Exit code 1 says
  # that the scene is at fault, which no other try mends.
  podFailurePolicy:
    rules:
      - action: Ignore
        onPodConditions:
          - type: DisruptionTarget
            status: "True"
      - action: FailJob
        onExitCodes:
          containerName: untold
          operator: In
          values: [1]
`, waits, j.Shards, atOnce, c.Retries)
	b.WriteString(c.template(&j, "shard", append(j.shard("auto"), "--jobs", fmt.Sprint(j.CPUs)), j.Shards))
	b.WriteString("---\n" + c.metadata(&j, j.Name, "last-cook"))
	fmt.Fprintf(&b, "spec:\n  suspend: true\n  backoffLimit: %d\n", c.Retries)
	b.WriteString(c.template(&j, "last-cook", append(j.last(), "--jobs", fmt.Sprint(j.CPUs)), 0))
	return b.String(), nil
}

// steps tells how the manifest is used.
func (c *Cluster) steps(j *Job, shards string) string {
	kubectl := "kubectl"
	if c.Namespace != "" {
		kubectl += " -n " + c.Namespace
	}
	const untilEnded = `#   while %[1]s get job/%[2]s -o name &&
#     ! %[1]s wait --for=condition=Complete --timeout=20s job/%[2]s &&
#     ! %[1]s wait --for=condition=Failed --timeout=1s job/%[2]s; do :; done`
	const ifComplete = `#   %[1]s wait --for=condition=Complete --timeout=1s job/%[2]s && `
	start := func(job string) string {
		return fmt.Sprintf(`%s patch job/%s --type=merge -p '{"spec":{"suspend":false}}'`, kubectl, job)
	}
	before := ""
	if j.Plan != "" {
		before = fmt.Sprintf(untilEnded+"\n"+ifComplete, kubectl, j.Name+"-plan") + start(shards) + " &&\n"
	}
	wait := fmt.Sprintf(untilEnded, kubectl, shards) + " &&\n#   " + start(j.Name) + `
#
# The last Job is suspended until the last line lets it start: when the shards have ended,
# also if some failed. A lost shard costs time only, since the last cook makes what is missing.
`
	if j.RequireStore {
		wait = fmt.Sprintf(untilEnded+" &&\n"+ifComplete, kubectl, shards) + start(j.Name) + `
#
# The last Job is suspended until the last line lets it start, when all shards have succeeded.
`
	}
	return fmt.Sprintf(`#
#   kubectl apply -f THIS_FILE
%s%s# To run it again: kubectl delete -f THIS_FILE, then as above; what the store has is not made
# again.
`, before, wait)
}

// metadata begins a Job.
func (c *Cluster) metadata(j *Job, name, component string) string {
	text := "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + scalar(name) + "\n"
	if c.Namespace != "" {
		text += "  namespace: " + scalar(c.Namespace) + "\n"
	}
	return text + "  labels:\n" + labels("    ", j, component)
}

func labels(indent string, j *Job, component string) string {
	return indent + "app.kubernetes.io/name: untold\n" +
		indent + "app.kubernetes.io/instance: " + scalar(j.Name) + "\n" +
		indent + "app.kubernetes.io/component: " + component + "\n"
}

// template ends a Job: its pods, which run a command, as one of so many shards or, with 0,
// as none.
func (c *Cluster) template(j *Job, component string, command []string, shards int) string {
	var b strings.Builder
	line := func(indent int, format string, args ...any) {
		b.WriteString(strings.Repeat(" ", indent))
		fmt.Fprintf(&b, format+"\n", args...)
	}
	if c.Keep > 0 {
		line(2, "ttlSecondsAfterFinished: %d", c.Keep)
	}
	line(2, "template:")
	line(4, "metadata:")
	line(6, "labels:")
	b.WriteString(labels("        ", j, component))
	line(4, "spec:")
	line(6, "restartPolicy: Never")
	if j.Time > 0 {
		line(6, "activeDeadlineSeconds: %d", j.Time)
	}
	if c.ServiceAccount != "" {
		line(6, "serviceAccountName: %s", scalar(c.ServiceAccount))
	}
	line(6, "automountServiceAccountToken: false")
	line(6, "securityContext:")
	line(8, "runAsNonRoot: true")
	line(8, "runAsUser: %d", c.User)
	line(8, "runAsGroup: %d", c.Group)
	line(8, "fsGroup: %d", c.Group)
	line(8, "fsGroupChangePolicy: OnRootMismatch")
	line(8, "seccompProfile:")
	line(10, "type: RuntimeDefault")
	line(6, "containers:")
	line(8, "- name: untold")
	line(10, "image: %s", scalar(c.Image))
	line(10, "command:")
	for _, w := range command {
		line(12, "- %s", argument(w))
	}
	if shards > 0 {
		line(10, "env:")
		line(12, "- name: UNTOLD_SHARDS")
		line(14, "value: \"%d\"", shards)
	}
	if c.Secret != "" {
		line(10, "envFrom:")
		line(12, "- secretRef:")
		line(16, "name: %s", scalar(c.Secret))
	}
	line(10, "resources:")
	line(12, "requests:")
	line(14, "cpu: \"%d\"", j.CPUs)
	if j.Memory > 0 {
		line(14, "memory: %s", scalar(quantity(j.Memory)))
		line(12, "limits:")
		line(14, "memory: %s", scalar(quantity(j.Memory)))
	}
	line(10, "securityContext:")
	line(12, "allowPrivilegeEscalation: false")
	line(12, "readOnlyRootFilesystem: true")
	line(12, "capabilities:")
	line(14, "drop: [ALL]")
	line(10, "volumeMounts:")
	line(12, "- name: tmp")
	line(14, "mountPath: /tmp")
	for i, v := range c.Volumes {
		line(12, "- name: volume-%d", i)
		line(14, "mountPath: %s", scalar(v.Path))
		if v.ReadOnly {
			line(14, "readOnly: true")
		}
	}
	line(6, "volumes:")
	line(8, "- name: tmp")
	line(10, "emptyDir: {}")
	for i, v := range c.Volumes {
		line(8, "- name: volume-%d", i)
		line(10, "persistentVolumeClaim:")
		line(12, "claimName: %s", scalar(v.Claim))
	}
	return b.String()
}

// quantity writes bytes with the largest unit that divides them.
func quantity(n int64) string {
	for _, u := range []struct {
		name  string
		bytes int64
	}{{"Gi", 1 << 30}, {"Mi", 1 << 20}, {"G", 1e9}, {"M", 1e6}} {
		if n%u.bytes == 0 {
			return fmt.Sprintf("%d%s", n/u.bytes, u.name)
		}
	}
	return fmt.Sprint(n)
}

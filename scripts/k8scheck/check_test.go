package k8scheck

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// jobs reads a manifest into the types of the API; a key that they lack is an error.
func jobs(t *testing.T, text string) (plan, shards, last batch.Job) {
	t.Helper()
	docs := strings.Split(text, "\n---\n")
	if len(docs) != 3 {
		t.Fatalf("%d documents", len(docs))
	}
	for i, job := range []*batch.Job{&plan, &shards, &last} {
		if err := yaml.UnmarshalStrict([]byte(docs[i]), job); err != nil {
			t.Fatal(err)
		}
		if job.APIVersion != "batch/v1" || job.Kind != "Job" {
			t.Errorf("%s %s", job.APIVersion, job.Kind)
		}
	}
	return plan, shards, last
}

// judge holds a manifest to what a server would refuse.
func judge(t *testing.T, plan, shards, last *batch.Job, n int32) {
	t.Helper()
	for _, job := range []*batch.Job{plan, shards, last} {
		spec := &job.Spec.Template.Spec
		// The host's name of a pod is the job's with an index.
		if bad := validation.IsDNS1123Label(job.Name + "-10000"); len(bad) > 0 {
			t.Error(job.Name, bad)
		}
		for k, v := range job.Labels {
			if bad := append(validation.IsQualifiedName(k), validation.IsValidLabelValue(v)...); len(bad) > 0 {
				t.Error(k, v, bad)
			}
		}
		if spec.RestartPolicy != core.RestartPolicyNever || len(spec.Containers) != 1 {
			t.Fatalf("%s: restarts %s, %d containers", job.Name, spec.RestartPolicy, len(spec.Containers))
		}
		c := &spec.Containers[0]
		for _, m := range c.VolumeMounts {
			if !slices.ContainsFunc(spec.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) {
				t.Errorf("%s mounts %s, which is no volume", job.Name, m.Name)
			}
		}
		for _, v := range spec.Volumes {
			if bad := validation.IsDNS1123Label(v.Name); len(bad) > 0 {
				t.Error(v.Name, bad)
			}
		}
		if cpu := c.Resources.Requests.Cpu(); cpu.Sign() <= 0 {
			t.Errorf("%s asks for %v processors", job.Name, cpu)
		}
		if asked, limit := c.Resources.Requests.Memory(), c.Resources.Limits.Memory(); asked.Cmp(*limit) != 0 {
			t.Errorf("%s asks for %v of memory and may have %v", job.Name, asked, limit)
		}
		s := c.SecurityContext
		if s == nil || *s.AllowPrivilegeEscalation || !*spec.SecurityContext.RunAsNonRoot || spec.SecurityContext.SeccompProfile.Type != core.SeccompProfileTypeRuntimeDefault ||
			!slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) {
			t.Errorf("%s is not of the restricted standard", job.Name)
		}
	}
	s := &shards.Spec
	if *s.CompletionMode != batch.IndexedCompletion || *s.Completions != n || *s.Parallelism > n || s.BackoffLimitPerIndex == nil {
		t.Errorf("shards: %v, %d of %d at a time", *s.CompletionMode, *s.Parallelism, *s.Completions)
	}
	for _, r := range s.PodFailurePolicy.Rules {
		if on := r.OnExitCodes; on != nil && *on.ContainerName != s.Template.Spec.Containers[0].Name {
			t.Errorf("a rule is about a container %s", *on.ContainerName)
		}
	}
	if plan.Spec.Suspend != nil || plan.Spec.CompletionMode != nil || !*s.Suspend {
		t.Error("the plan waits, or is indexed, or the shards do not wait for it")
	}
	if !*last.Spec.Suspend || last.Spec.CompletionMode != nil {
		t.Error("the last cook does not wait, or is indexed")
	}
}

func TestExample(t *testing.T) {
	text, err := os.ReadFile("../../deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	plan, shards, last := jobs(t, string(text))
	judge(t, &plan, &shards, &last, 16)
}

// TestManifests: with every flag, and with names that mean something to YAML and to
// Kubernetes, the manifest is one of the API's types with the same words in it.
func TestManifests(t *testing.T) {
	program := filepath.Join(t.TempDir(), "untold")
	build := exec.Command("go", "build", "-o", program, "./cmd/untold")
	build.Dir = "../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	const hostile = `/scenes/it's: "a" $(HOME) $$ {town} #1 ` + "`id` \u00a0 日本 \\n.glb"
	for _, c := range []struct {
		name string
		args []string
	}{
		{"least", nil},
		{"most", []string{
			"--namespace", "maps", "--secret", "builds.s3", "--service-account", "cooks", "--user", "65532:100", "--retries", "0", "--ttl", "0", "--time", "90m",
			"--memory", "1500MB", "--cpus", "4", "--at-once", "2", "--require-store", "--name", "a-name-that-is-as-long-as-names-of-jobs-may-be48", "--program", "/opt/un told",
			"--", "--payload-dir", "a: $b", "--tile-size", "8",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := append([]string{
				"farm", "kubernetes", hostile, "-o", "/out/a: b", "--store", "/store/$x", "--shards", "5", "--image", "registry.example.com:5000/a/untold@sha256:" + strings.Repeat("0", 64),
				"--pvc", "scenes:/scenes:ro", "--pvc", "out:/out", "--pvc", "store:/store",
			}, c.args...)
			cmd := exec.Command(program, args...)
			var errs strings.Builder
			cmd.Stderr = &errs
			out, err := cmd.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, &errs)
			}
			plan, shards, last := jobs(t, string(out))
			judge(t, &plan, &shards, &last, 5)
			for _, job := range []*batch.Job{&plan, &shards, &last} {
				words := job.Spec.Template.Spec.Containers[0].Command
				for i, w := range words {
					words[i] = strings.ReplaceAll(w, "$$", "$") // as Kubernetes does
				}
				if words[1] != "cook" || words[2] != hostile || !slices.Contains(words, "/store/$x") {
					t.Errorf("runs %q", words)
				}
			}
			env := shards.Spec.Template.Spec.Containers[0].Env
			if len(env) != 1 || env[0].Name != "UNTOLD_SHARDS" || env[0].Value != "5" {
				t.Errorf("environment %v", env)
			}
			if c.name == "most" {
				spec := &shards.Spec.Template.Spec
				if shards.Namespace != "maps" || *spec.SecurityContext.RunAsUser != 65532 || *spec.SecurityContext.FSGroup != 100 || *spec.ActiveDeadlineSeconds != 5400 ||
					*shards.Spec.Parallelism != 2 || spec.Containers[0].EnvFrom[0].SecretRef.Name != "builds.s3" || spec.ServiceAccountName != "cooks" {
					t.Errorf("%+v", shards)
				}
				if m := spec.Containers[0].Resources.Limits.Memory(); m.Value() != 1_500_000_000 {
					t.Errorf("memory is %v", m)
				}
			}
		})
	}
}

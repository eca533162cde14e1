//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// processors are those that a pod asks for, in thousandths.
func processors(p *pod) (int, error) {
	sum := 0
	for _, c := range p.Spec.Containers {
		text := c.Resources.Requests["cpu"]
		if text == "" {
			continue
		}
		n, err := strconv.Atoi(strings.TrimSuffix(text, "m"))
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%s asks for %q processors", c.Name, text)
		}
		if !strings.HasSuffix(text, "m") {
			n *= 1000
		}
		sum += n
	}
	return sum, nil
}

// expand replaces $(NAME) by the value of a variable, if there is one, and $$ by $.
func expand(text string, env map[string]string) string {
	var b strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 || i+1 == len(text) {
			return b.String() + text
		}
		b.WriteString(text[:i])
		switch text = text[i+1:]; text[0] {
		case '$':
			b.WriteByte('$')
			text = text[1:]
		case '(':
			name, rest, closed := strings.Cut(text[1:], ")")
			value, known := env[name]
			if !closed || !known {
				b.WriteByte('$')
				continue
			}
			b.WriteString(value)
			text = rest
		default:
			b.WriteByte('$')
		}
	}
}

// field is what a path names of a pod, such as metadata.labels['a/b'].
func field(p *pod, path string) (string, error) {
	switch path {
	case "metadata.name":
		return p.Metadata.Name, nil
	case "metadata.namespace":
		return p.Metadata.Namespace, nil
	case "spec.nodeName":
		return p.Spec.NodeName, nil
	}
	for prefix, values := range map[string]map[string]string{"metadata.labels['": p.Metadata.Labels, "metadata.annotations['": p.Metadata.Annotations} {
		if key, ok := strings.CutPrefix(path, prefix); ok {
			if key, ok = strings.CutSuffix(key, "']"); ok {
				return values[key], nil
			}
		}
	}
	return "", fmt.Errorf("no field %q of a pod is known here", path)
}

// environment is what a pod declares of its container's variables.
func (n *machine) environment(ctx context.Context, p *pod) (map[string]string, error) {
	c := &p.Spec.Containers[0]
	env := map[string]string{}
	for _, from := range c.EnvFrom {
		if from.SecretRef == nil {
			return nil, errors.New("variables from elsewhere than a secret")
		}
		var s secret
		path := "/api/v1/namespaces/" + url.PathEscape(p.Metadata.Namespace) + "/secrets/" + url.PathEscape(from.SecretRef.Name)
		if err := n.api.call(ctx, http.MethodGet, path, "", nil, &s); err != nil {
			return nil, err
		}
		for k, v := range s.Data {
			env[k] = string(v)
		}
	}
	for _, v := range c.Env {
		switch {
		case v.ValueFrom == nil:
			env[v.Name] = expand(v.Value, env)
		case v.ValueFrom.FieldRef == nil:
			return nil, fmt.Errorf("the variable %s is from elsewhere than a field", v.Name)
		default:
			value, err := field(p, v.ValueFrom.FieldRef.FieldPath)
			if err != nil {
				return nil, err
			}
			env[v.Name] = value
		}
	}
	return env, nil
}

// user is who a container runs as; its own settings win over the pod's.
func user(p *pod) (*syscall.Credential, error) {
	cred := &syscall.Credential{}
	for _, s := range []*security{p.Spec.SecurityContext, p.Spec.Containers[0].SecurityContext} {
		if s == nil {
			continue
		}
		if s.RunAsUser != nil {
			cred.Uid = *s.RunAsUser
		}
		if s.RunAsGroup != nil {
			cred.Gid = *s.RunAsGroup
		}
		if s.FSGroup != nil {
			cred.Groups = []uint32{*s.FSGroup}
		}
	}
	if cred.Uid == 0 {
		return nil, errors.New("containers do not run as root here")
	}
	return cred, nil
}

// command makes the process of a pod's container. A volume is the folder of this machine
// that has the path at which it is mounted; that it is read only, or the root file system,
// is not seen to, and neither is a bound of memory.
func (n *machine) command(ctx context.Context, p *pod) (*exec.Cmd, error) {
	if len(p.Spec.Containers) != 1 || len(p.Spec.InitContainers) > 0 {
		return nil, errors.New("it has more than one container")
	}
	c := &p.Spec.Containers[0]
	for _, m := range c.VolumeMounts {
		if info, err := os.Stat(m.MountPath); err != nil || !info.IsDir() {
			return nil, fmt.Errorf("the volume at %s is no folder here", m.MountPath)
		}
	}
	env, err := n.environment(ctx, p)
	if err != nil {
		return nil, err
	}
	words := slices.Concat(c.Command, c.Args)
	if len(words) == 0 {
		return nil, errors.New("it names no command")
	}
	for i, w := range words {
		words[i] = expand(w, env)
	}
	cmd := &exec.Cmd{Path: words[0], Args: words, Dir: "/"}
	if c.WorkingDir != "" {
		cmd.Dir = c.WorkingDir
	}
	if !strings.Contains(words[0], "/") {
		cmd.Path, err = find(words[0], n.path)
		if err != nil {
			return nil, err
		}
	}
	cmd.Env = []string{"PATH=" + n.path, "HOSTNAME=" + p.Metadata.Name} // as an image and a runtime set them
	for _, k := range slices.Sorted(maps.Keys(env)) {
		cmd.Env = append(cmd.Env, k+"="+env[k])
	}
	if os.Geteuid() == 0 {
		cred, err := user(p)
		if err != nil {
			return nil, err
		}
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: cred}
	}
	return cmd, nil
}

// find is where a program lies among the folders of a search path.
func find(name, path string) (string, error) {
	for _, dir := range filepath.SplitList(path) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("there is no %s in %s", name, path)
}

// outcome is how a process has ended, as a shell tells it.
func outcome(state *os.ProcessState) (code, signal int) {
	if ws, ok := state.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return 128 + int(ws.Signal()), int(ws.Signal())
	}
	return state.ExitCode(), 0
}

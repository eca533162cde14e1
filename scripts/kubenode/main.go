//go:build unix

// Command kubenode is a node of a Kubernetes cluster on one machine, for tests: scheduler and
// kubelet in one. It takes pods that wait as long as it has processors for them, runs their
// container's command as a process, without an image, and writes back how it has ended. It
// honours variables, also from fields and secrets, users, deadlines, deletion and evictions,
// and that it is cordoned; it isolates nothing.
//
//	go run ./scripts/kubenode -server https://127.0.0.1:6443 -ca ca.crt -token token -name node0 -path /opt/bin -logs /tmp
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"
)

func main() {
	n := &machine{running: map[string]*process{}, ended: make(chan *process)}
	server := flag.String("server", "", "address of the API server")
	ca := flag.String("ca", "", "file of the certificates that it is trusted by")
	token := flag.String("token", "", "file of the token that it is asked with")
	flag.StringVar(&n.name, "name", "node0", "name of the node")
	flag.IntVar(&n.cpus, "cpus", 1, "processors that pods may ask for")
	flag.StringVar(&n.path, "path", "", "folders of the programs that containers have")
	flag.StringVar(&n.logs, "logs", ".", "folder for what containers print")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := func() (err error) {
		if n.api, err = newAPI(*server, *ca, *token); err != nil {
			return err
		}
		return n.run(ctx)
	}()
	for _, p := range n.running {
		_ = p.cmd.Process.Kill()
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintln(os.Stderr, "kubenode:", err)
		os.Exit(1)
	}
}

// machine is a node and what runs on it.
type machine struct {
	api        *api
	name       string
	cpus       int
	path, logs string

	running map[string]*process // by the UIDs of their pods
	ended   chan *process
}

// process is a pod's container.
type process struct {
	pod     pod
	cmd     *exec.Cmd
	cpus    int // thousandths
	started string

	ending *time.Timer // kills it, once it was told to end
	late   *time.Timer // kills it when its time is over
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// register makes the node known; one of its name may be there from before.
func (n *machine) register(ctx context.Context) error {
	room := map[string]string{"cpu": strconv.Itoa(n.cpus), "memory": "64Gi", "pods": "110"}
	err := n.api.call(ctx, http.MethodPost, "/api/v1/nodes", asJSON, node{
		APIVersion: "v1", Kind: "Node",
		Metadata: meta{Name: n.name, Labels: map[string]string{"kubernetes.io/hostname": n.name}},
		Status:   nodeStatus{Capacity: room, Allocatable: room, Conditions: []condition{{Type: "Ready", Status: "True", Reason: "KubeletReady"}}},
	}, nil)
	if is(err, http.StatusConflict) {
		return nil
	}
	return err
}

// run looks at all pods whenever one has changed or a process has ended.
func (n *machine) run(ctx context.Context) error {
	if err := n.register(ctx); err != nil {
		return err
	}
	fmt.Printf("%s is up, with %d processors\n", n.name, n.cpus)
	watch, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := make(chan error, 1)
	watching := false
	for {
		var list podList
		if err := n.api.call(ctx, http.MethodGet, "/api/v1/pods", "", nil, &list); err != nil {
			return err
		}
		if err := n.look(ctx, list.Items); err != nil {
			return err
		}
		if !watching {
			watching = true
			go func() { changes <- n.api.changed(watch, list.Metadata.ResourceVersion) }()
		}
		select {
		case err := <-changes:
			watching = false
			if err != nil && !is(err, http.StatusGone) {
				return err
			}
		case p := <-n.ended:
			if err := n.report(ctx, p); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// look brings what runs here in line with the pods there are.
func (n *machine) look(ctx context.Context, pods []pod) error {
	there := map[string]bool{}
	for i := range pods {
		p := &pods[i]
		there[p.Metadata.UID] = true
		if p.Spec.NodeName != n.name || p.Status.Phase == "Succeeded" || p.Status.Phase == "Failed" {
			continue
		}
		if runs := n.running[p.Metadata.UID]; runs != nil {
			if p.Metadata.DeletionTimestamp != "" {
				grace := int64(30)
				if g := p.Metadata.DeletionGracePeriodSeconds; g != nil {
					grace = *g
				}
				runs.end(time.Duration(grace) * time.Second)
			}
			continue
		}
		// One that was bound and not begun: it is to go, or this node was started anew.
		if err := n.fail(ctx, p, "NodeLost", "its process is gone"); err != nil {
			return err
		}
	}
	for uid, p := range n.running {
		if !there[uid] {
			p.end(0)
		}
	}
	return n.take(ctx, pods)
}

// take starts pods that wait for a node, as long as there is room.
func (n *machine) take(ctx context.Context, pods []pod) error {
	free := 1000 * n.cpus
	for _, p := range n.running {
		free -= p.cpus
	}
	open, asked := false, false
	for i := range pods {
		p := &pods[i]
		if p.Spec.NodeName != "" || p.Metadata.DeletionTimestamp != "" || p.Status.Phase != "Pending" {
			continue
		}
		cpus, err := processors(p)
		if err != nil {
			return err
		}
		if cpus > free {
			continue
		}
		if !asked {
			var err error
			if open, err = n.open(ctx); err != nil {
				return err
			}
			asked = true
		}
		if !open {
			return nil
		}
		if err := n.api.bind(ctx, p, n.name); is(err, http.StatusConflict, http.StatusNotFound) {
			continue
		} else if err != nil {
			return err
		}
		p.Spec.NodeName = n.name
		if err := n.start(ctx, p, cpus); err != nil {
			return err
		}
		free -= cpus
	}
	return nil
}

// open reports whether the node takes pods: it is there and not cordoned.
func (n *machine) open(ctx context.Context) (bool, error) {
	var self node
	err := n.api.call(ctx, http.MethodGet, "/api/v1/nodes/"+url.PathEscape(n.name), "", nil, &self)
	if is(err, http.StatusNotFound) {
		return false, nil
	}
	return err == nil && !self.Spec.Unschedulable, err
}

// start begins a pod's process; one that can't be begun has failed.
func (n *machine) start(ctx context.Context, p *pod, cpus int) error {
	cmd, err := n.command(ctx, p)
	if err != nil {
		return n.fail(ctx, p, "CreateContainerConfigError", err.Error())
	}
	log, err := os.Create(filepath.Join(n.logs, p.Metadata.Name+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return n.fail(ctx, p, "CreateContainerError", err.Error())
	}
	fmt.Printf("%s: %s is process %d\n", n.name, p.Metadata.Name, cmd.Process.Pid)
	proc := &process{pod: *p, cmd: cmd, cpus: cpus, started: now()}
	n.running[p.Metadata.UID] = proc
	if s := p.Spec.ActiveDeadlineSeconds; s != nil {
		proc.late = time.AfterFunc(time.Duration(*s)*time.Second, func() { _ = cmd.Process.Kill() })
	}
	go func() {
		_ = cmd.Wait() // its state tells
		n.ended <- proc
	}()
	err = n.api.setStatus(ctx, p, podStatus{
		Phase: "Running", StartTime: proc.started,
		Conditions:        []condition{{Type: "Initialized", Status: "True"}, {Type: "Ready", Status: "True"}, {Type: "ContainersReady", Status: "True"}},
		ContainerStatuses: n.containers(proc, containerState{Running: &running{proc.started}}),
	})
	if is(err, http.StatusNotFound, http.StatusConflict) {
		return nil // gone meanwhile, which the next look sees
	}
	return err
}

// containers is the state of a pod's only container.
func (n *machine) containers(p *process, s containerState) []containerStatus {
	c := &p.pod.Spec.Containers[0]
	return []containerStatus{{Name: c.Name, Image: c.Image, ImageID: "none", Ready: s.Running != nil, State: s}}
}

// end tells a process to end and kills it when it has not after a while.
func (p *process) end(grace time.Duration) {
	if p.ending != nil {
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	p.ending = time.AfterFunc(grace, func() { _ = p.cmd.Process.Kill() })
}

// report writes how a process has ended.
func (n *machine) report(ctx context.Context, p *process) error {
	delete(n.running, p.pod.Metadata.UID)
	if p.ending != nil {
		p.ending.Stop()
	}
	reason := ""
	if p.late != nil && !p.late.Stop() {
		reason = "DeadlineExceeded"
	}
	code, signal := outcome(p.cmd.ProcessState)
	t := terminated{ExitCode: code, Signal: signal, Reason: "Completed", StartedAt: p.started, FinishedAt: now()}
	phase := "Succeeded"
	if code != 0 {
		phase, t.Reason = "Failed", "Error"
	}
	fmt.Printf("%s: %s has ended with %d\n", n.name, p.pod.Metadata.Name, code)
	return n.finish(ctx, &p.pod, podStatus{
		Phase: phase, Reason: reason,
		Conditions:        []condition{{Type: "Ready", Status: "False"}, {Type: "ContainersReady", Status: "False"}},
		ContainerStatuses: n.containers(p, containerState{Terminated: &t}),
	})
}

// fail writes that a pod has failed without a process.
func (n *machine) fail(ctx context.Context, p *pod, reason, message string) error {
	fmt.Printf("%s: %s has failed: %s: %s\n", n.name, p.Metadata.Name, reason, message)
	return n.finish(ctx, p, podStatus{Phase: "Failed", Reason: reason, Message: message})
}

// finish writes a pod's last status and, where it is to go, lets it.
func (n *machine) finish(ctx context.Context, p *pod, s podStatus) error {
	err := n.api.setStatus(ctx, p, s)
	if is(err, http.StatusNotFound, http.StatusConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	var last pod
	if err := n.api.call(ctx, http.MethodGet, podPath(p, ""), "", nil, &last); err != nil {
		if is(err, http.StatusNotFound) {
			return nil
		}
		return err
	}
	if last.Metadata.UID == p.Metadata.UID && last.Metadata.DeletionTimestamp != "" {
		return n.api.remove(ctx, p)
	}
	return nil
}

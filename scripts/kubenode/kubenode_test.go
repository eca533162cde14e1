//go:build unix

package main

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/untoldkit/untold/internal/testfile"
)

func TestExpand(t *testing.T) {
	env := map[string]string{"A": "one", "B": "$(A)", "": "none"}
	for text, want := range map[string]string{
		"": "", "$": "$", "a$": "a$", "$(A)": "one", "x$(A)y$(A)": "xoney" + "one", "$(B)": "$(A)", "$$(A)": "$(A)", "$$$(A)": "$one",
		"$(C)": "$(C)", "$(A": "$(A", "$A": "$A", "$()": "none", "$(C)$(A)": "$(C)one",
	} {
		if got := expand(text, env); got != want {
			t.Errorf("%q: %q instead of %q", text, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	p := &pod{Metadata: meta{Name: "a-0", Namespace: "maps", Labels: map[string]string{"x/y": "1"}, Annotations: map[string]string{"x/y": "2"}}}
	for path, want := range map[string]string{
		"metadata.name": "a-0", "metadata.namespace": "maps", "metadata.labels['x/y']": "1", "metadata.annotations['x/y']": "2", "metadata.labels['z']": "",
	} {
		if got, err := field(p, path); got != want || err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	if _, err := field(p, "status.podIP"); err == nil {
		t.Error("an unknown field has a value")
	}
}

// cluster is an API server with these pods.
type cluster struct {
	lock    sync.Mutex
	pods    map[string]*pod
	version int
	changed chan struct{} // closed when version grows
}

func (c *cluster) change() {
	c.version++
	close(c.changed)
	c.changed = make(chan struct{})
}

func (c *cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.lock.Lock()
	defer c.lock.Unlock()
	path := strings.TrimPrefix(r.URL.Path, "/api/v1/")
	answer := any(struct{}{})
	name, more, _ := strings.Cut(strings.TrimPrefix(path, "namespaces/maps/pods/"), "/")
	p := c.pods[name]
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		http.Error(w, "who is this?", http.StatusUnauthorized)
		return
	case path == "nodes" && r.Method == http.MethodPost, path == "nodes/node0":
	case path == "namespaces/maps/secrets/s3":
		answer = secret{map[string][]byte{"KEY": []byte("from the secret")}}
	case path == "pods" && r.URL.Query().Get("watch") != "":
		version, _ := json.Marshal(c.version)
		if changed := c.changed; string(version) == r.URL.Query().Get("resourceVersion") {
			c.lock.Unlock()
			select {
			case <-changed:
			case <-r.Context().Done():
			}
			c.lock.Lock()
		}
	case path == "pods":
		version, _ := json.Marshal(c.version)
		list := podList{Metadata: meta{ResourceVersion: string(version)}}
		for _, p := range c.pods {
			list.Items = append(list.Items, *p)
		}
		answer = list
	case p == nil:
		http.NotFound(w, r)
		return
	case more == "binding":
		if p.Spec.NodeName != "" {
			http.Error(w, "it is taken", http.StatusConflict)
			return
		}
		p.Spec.NodeName = "node0"
		c.change()
	case more == "status":
		var patch struct {
			Status podStatus `json:"status"`
		}
		if err := json.NewDecoder(r.Body).Decode(&patch); err != nil || r.Header.Get("Content-Type") != asPatch {
			http.Error(w, "no patch", http.StatusUnsupportedMediaType)
			return
		}
		p.Status = patch.Status
		c.change()
	case r.Method == http.MethodDelete:
		delete(c.pods, name)
		c.change()
	default:
		answer = p
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// until waits for a state of the cluster and leaves it locked.
func (c *cluster) until(ctx context.Context, t *testing.T, holds func() bool) {
	t.Helper()
	for {
		c.lock.Lock()
		if holds() {
			return
		}
		changed := c.changed
		c.lock.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		}
	}
}

// onePod waits to run a shell's script as a user that has no rights.
func onePod(t *testing.T, name, script, more string) *pod {
	t.Helper()
	var p pod
	quoted, _ := json.Marshal(script)
	text := `{"metadata": {"name": "` + name + `", "namespace": "maps", "uid": "` + name + `", "labels": {"index": "3"}}, "spec": {"securityContext": {"runAsUser": 65534, "runAsGroup": 65534},
		"containers": [{"name": "c", "image": "none", "command": ["sh", "-c", ` + string(quoted) + `], "resources": {"requests": {"cpu": "500m"}} ` + more + `}]}, "status": {"phase": "Pending"}}`
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		t.Fatal(err)
	}
	return &p
}

// connect serves a cluster and returns what speaks to it, and the folder of its files.
func connect(t *testing.T, c http.Handler) (*api, string) {
	t.Helper()
	server := httptest.NewTLSServer(c)
	t.Cleanup(server.Close)
	dir := t.TempDir()
	ca, token := filepath.Join(dir, "ca"), filepath.Join(dir, "token")
	testfile.Write(t, ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}))
	testfile.Write(t, token, "secret\n")
	if _, err := newAPI(strings.Replace(server.URL, "https:", "http:", 1), ca, token); err == nil {
		t.Error("the token goes over plain HTTP")
	}
	a, err := newAPI(server.URL, ca, token)
	if err != nil {
		t.Fatal(err)
	}
	return a, dir
}

// TestPatience: a server that does not answer, or ends no answer, ends a request.
func TestPatience(t *testing.T) {
	for _, begins := range []bool{false, true} {
		a, _ := connect(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if begins {
				_, _ = w.Write([]byte("{"))
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}))
		a.patience = 200 * time.Millisecond
		for _, err := range []error{
			a.call(t.Context(), http.MethodGet, "/api/v1/pods", "", nil, &podList{}),
			a.call(t.Context(), http.MethodGet, "/api/v1/pods", "", nil, nil),
		} {
			if err == nil || !strings.Contains(err.Error(), "has not answered within 200ms") {
				t.Errorf("it has begun to answer: %v: %v", begins, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := a.call(ctx, http.MethodGet, "/api/v1/pods", "", nil, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("it has begun to answer: %v: cancelled: %v", begins, err)
		}
	}
}

// TestNode: pods that wait are run and their ends are written; what is deleted ends.
func TestNode(t *testing.T) {
	elsewhere := onePod(t, "elsewhere", "exit 0", "")
	elsewhere.Spec.NodeName = "node1"
	seconds := int64(0)
	late := onePod(t, "late", "exec tail -f /dev/null", "")
	late.Spec.ActiveDeadlineSeconds = &seconds
	c := &cluster{changed: make(chan struct{}), pods: map[string]*pod{
		"good": onePod(t, "good", `echo "$A $B $KEY $(id -u) $HOME"`, `, "env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['index']"}}}, {"name": "B", "value": "$(A)$$"}],
			"envFrom": [{"secretRef": {"name": "s3"}}]`),
		"bad":       onePod(t, "bad", "exit 3", ""),
		"killed":    onePod(t, "killed", "kill -9 $$$$", ""),
		"unmounted": onePod(t, "unmounted", "exit 0", `, "volumeMounts": [{"mountPath": "/is not there"}]`),
		"deleted":   onePod(t, "deleted", "exec tail -f /dev/null", ""),
		"late":      late,
		"elsewhere": elsewhere,
	}}
	a, dir := connect(t, c)
	n := &machine{api: a, name: "node0", cpus: 2, path: os.Getenv("PATH"), logs: dir, running: map[string]*process{}, ended: make(chan *process)}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		done <- n.run(ctx)
		cancel() // what is waited for can't come any more
	}()

	c.until(ctx, t, func() bool { return c.pods["deleted"].Status.Phase == "Running" })
	c.pods["deleted"].Metadata.DeletionTimestamp = "2000-01-01T00:00:00Z"
	c.change()
	c.lock.Unlock()
	c.until(ctx, t, func() bool {
		for name, p := range c.pods {
			if name != "elsewhere" && p.Status.Phase != "Succeeded" && p.Status.Phase != "Failed" {
				return false
			}
		}
		return c.pods["deleted"] == nil
	})
	for name, want := range map[string]struct {
		phase        string
		code, signal int
		reason       string
	}{
		"good": {"Succeeded", 0, 0, ""}, "bad": {"Failed", 3, 0, ""}, "killed": {"Failed", 137, 9, ""}, "late": {"Failed", 137, 9, "DeadlineExceeded"},
	} {
		s := c.pods[name].Status
		if len(s.ContainerStatuses) != 1 || s.ContainerStatuses[0].State.Terminated == nil {
			t.Errorf("%s: %+v", name, s)
			continue
		}
		if end := s.ContainerStatuses[0].State.Terminated; s.Phase != want.phase || s.Reason != want.reason || end.ExitCode != want.code || end.Signal != want.signal {
			t.Errorf("%s: %+v, %+v", name, s, end)
		}
	}
	if s := c.pods["unmounted"].Status; s.Phase != "Failed" || !strings.Contains(s.Message, "/is not there") {
		t.Errorf("unmounted: %+v", s)
	}
	if s := c.pods["elsewhere"].Status; s.Phase != "Pending" {
		t.Errorf("elsewhere: %+v", s)
	}
	c.lock.Unlock()
	uid := "65534"
	if os.Geteuid() != 0 {
		uid = ""
	}
	if said := string(testfile.Read(t, filepath.Join(dir, "good.log"))); !strings.HasPrefix(said, "3 3$ from the secret "+uid) {
		t.Errorf("it printed %q", said)
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

//go:build unix

package main

// These are the parts of the API's types that a node reads and writes.

type meta struct {
	Name            string            `json:"name,omitempty"`
	Namespace       string            `json:"namespace,omitempty"`
	UID             string            `json:"uid,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`
	// DeletionTimestamp stands when the pod is to end, within so many seconds.
	DeletionTimestamp          string `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64 `json:"deletionGracePeriodSeconds,omitempty"`
}

type node struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   meta       `json:"metadata"`
	Spec       nodeSpec   `json:"spec"`
	Status     nodeStatus `json:"status"`
}

type nodeSpec struct {
	Unschedulable bool `json:"unschedulable,omitempty"` // cordoned
}

type nodeStatus struct {
	Capacity    map[string]string `json:"capacity,omitempty"`
	Allocatable map[string]string `json:"allocatable,omitempty"`
	Conditions  []condition       `json:"conditions,omitempty"`
}

type condition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
	Reason string `json:"reason,omitempty"`
}

type podList struct {
	Metadata meta  `json:"metadata"`
	Items    []pod `json:"items"`
}

type pod struct {
	Metadata meta      `json:"metadata"`
	Spec     podSpec   `json:"spec"`
	Status   podStatus `json:"status"`
}

type podSpec struct {
	NodeName              string    `json:"nodeName"`
	ActiveDeadlineSeconds *int64    `json:"activeDeadlineSeconds"`
	SecurityContext       *security `json:"securityContext"`
	Containers            []struct {
		Name            string        `json:"name"`
		Image           string        `json:"image"`
		Command         []string      `json:"command"`
		Args            []string      `json:"args"`
		WorkingDir      string        `json:"workingDir"`
		Env             []variable    `json:"env"`
		EnvFrom         []source      `json:"envFrom"`
		Resources       resources     `json:"resources"`
		SecurityContext *security     `json:"securityContext"`
		VolumeMounts    []volumeMount `json:"volumeMounts"`
	} `json:"containers"`
	InitContainers []struct{} `json:"initContainers"`
}

type security struct {
	RunAsUser    *uint32 `json:"runAsUser"`
	RunAsGroup   *uint32 `json:"runAsGroup"`
	RunAsNonRoot *bool   `json:"runAsNonRoot"`
	FSGroup      *uint32 `json:"fsGroup"`
}

type variable struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	ValueFrom *struct {
		FieldRef *struct {
			FieldPath string `json:"fieldPath"`
		} `json:"fieldRef"`
	} `json:"valueFrom"`
}

type source struct {
	SecretRef *struct {
		Name string `json:"name"`
	} `json:"secretRef"`
}

type secret struct {
	Data map[string][]byte `json:"data"`
}

type resources struct {
	Requests map[string]string `json:"requests"`
}

type volumeMount struct {
	MountPath string `json:"mountPath"`
	ReadOnly  bool   `json:"readOnly"`
}

type podStatus struct {
	Phase             string            `json:"phase,omitempty"`
	Reason            string            `json:"reason,omitempty"`
	Message           string            `json:"message,omitempty"`
	StartTime         string            `json:"startTime,omitempty"`
	Conditions        []condition       `json:"conditions,omitempty"`
	ContainerStatuses []containerStatus `json:"containerStatuses,omitempty"`
}

type containerStatus struct {
	Name    string         `json:"name"`
	Image   string         `json:"image"`
	ImageID string         `json:"imageID"`
	Ready   bool           `json:"ready"`
	State   containerState `json:"state"`

	RestartCount int `json:"restartCount"`
}

type containerState struct {
	Running    *running    `json:"running,omitempty"`
	Terminated *terminated `json:"terminated,omitempty"`
}

type running struct {
	StartedAt string `json:"startedAt"`
}

type terminated struct {
	ExitCode   int    `json:"exitCode"`
	Signal     int    `json:"signal,omitempty"`
	Reason     string `json:"reason"`
	Message    string `json:"message,omitempty"`
	StartedAt  string `json:"startedAt,omitempty"`
	FinishedAt string `json:"finishedAt"`
}

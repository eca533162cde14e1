// Package k8scheck compares manifests with the types of Kubernetes. It is a module of its
// own, so that these are no dependency of untold.
package k8scheck

// Package hosted has kube-controller-manager's own controllers, of k8s.io/kubernetes
// v1.36.3, as programs of package bubble: each is built by its descriptor in upstream's own
// registry and runs unmodified, as a process of its own with its own caches.
package hosted

// Package controllermanager contains only tests. They run kube-controller-manager's own command, of k8s.io/kubernetes
// v1.36.3 with all its controllers, in real time and over HTTP against a server of package fakeapi.
package controllermanager

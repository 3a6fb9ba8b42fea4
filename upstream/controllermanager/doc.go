// Package controllermanager contains only tests. They run the command kube-controller-manager of k8s.io/kubernetes,
// with all its controllers, against a server of package fakeapi. They use real time and HTTP.
package controllermanager

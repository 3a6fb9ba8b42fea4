// Package controllermanager holds tests only: kube-controller-manager's own command, of k8s.io/kubernetes v1.36.3 with
// all its controllers, runs in their process against a server of package fakeapi, over HTTP, and does with Deployments,
// Jobs and the like what it does in a cluster. What it is compiled of is compiled for these tests alone.
package controllermanager

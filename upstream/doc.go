// Package upstream is the root of a module that runs code of k8s.io/kubernetes against a server of package
// fakeapi. Package hosted runs single controllers of kube-controller-manager, and package controllermanager runs its
// main.
package upstream

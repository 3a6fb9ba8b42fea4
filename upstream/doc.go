// Package upstream is the root of a module that runs code of k8s.io/kubernetes v1.36.3 against a server of package
// fakeapi: the controllers of kube-controller-manager in package hosted, and its whole command in controllermanager.
package upstream

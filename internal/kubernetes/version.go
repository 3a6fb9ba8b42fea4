// Package kubernetes names the version of Kubernetes that this module follows. "make next" changes it.
package kubernetes

// The version of kube-apiserver that the server reports, and the oldest version with which it is compatible.
const (
	Version            = "v1.36.3"
	Major              = "1"
	Minor              = "36"
	MinCompatibleMinor = "35"
)

// Package clientgates keeps client-go's feature gates as environment variables set them, such as
// KUBE_FEATURE_WatchListClient=false.
package clientgates

import "k8s.io/client-go/features"

// own are client-go's gates before k8s.io/kubernetes/pkg/features replaces them during initialization. Packages without
// uninitialized dependencies are initialized in the order of their paths.
var own = features.FeatureGates()

// Restore sets client-go's own gates again.
func Restore() { features.ReplaceFeatureGates(own) }

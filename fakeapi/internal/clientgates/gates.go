// Package clientgates preserves the feature gates that the environment sets, such as
// KUBE_FEATURE_WatchListClient=false.
package clientgates

import "k8s.io/client-go/features"

// own holds client-go's feature gates, before the initialization of k8s.io/kubernetes/pkg/features replaces them. Go
// initializes packages in the order of their import paths, so this package comes first.
var own = features.FeatureGates()

// Restore makes client-go use its own feature gates again.
func Restore() { features.ReplaceFeatureGates(own) }

package clientgates_test

import (
	"testing"

	"k8s.io/client-go/features"

	_ "github.com/threelaws/threelaws/fakeapi"
)

// An environment variable can set a feature gate of client-go in a program that links the server.
func TestEnvironmentSetsGates(t *testing.T) {
	t.Setenv("KUBE_FEATURE_WatchListClient", "false") // client-go reads it at the first use of a gate
	if features.FeatureGates().Enabled(features.WatchListClient) {
		t.Error("WatchListClient is enabled")
	}
}

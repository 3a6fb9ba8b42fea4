//go:build staging

package validation

// These imports keep "go mod tidy" from dropping modules that are unused here. k8s.io/kubernetes requires them at
// v0.0.0, which no proxy serves. Commands that list all modules therefore need the real versions in go.mod.
import (
	_ "k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/cloud-provider/volume"
	_ "k8s.io/cluster-bootstrap/token/api"
	_ "k8s.io/code-generator/cmd/client-gen/types"
	_ "k8s.io/controller-manager/config/v1alpha1"
	_ "k8s.io/cri-api/pkg/errors"
	_ "k8s.io/cri-client/pkg/logs"
	_ "k8s.io/cri-streaming/pkg/streaming/portforward"
	_ "k8s.io/csi-translation-lib/plugins"
	_ "k8s.io/endpointslice/trafficdist"
	_ "k8s.io/externaljwt/apis/v1"
	_ "k8s.io/kube-controller-manager/config/v1alpha1"
	_ "k8s.io/kube-proxy/config/v1alpha1"
	_ "k8s.io/kube-scheduler/config/v1"
	_ "k8s.io/kubectl/pkg/apps"
	_ "k8s.io/metrics/pkg/apis/metrics"
	_ "k8s.io/mount-utils"
	_ "k8s.io/pod-security-admission/api"
	_ "k8s.io/sample-apiserver/pkg/apis/wardle"
)

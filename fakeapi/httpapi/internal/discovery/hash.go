package discovery

import (
	"crypto/sha256"
	"encoding/base64"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// storageVersions are the kinds that the real server stores in another version
// than the one it is asked for.
var storageVersions = map[schema.GroupVersionKind]string{
	{Group: "autoscaling", Version: "v1", Kind: "HorizontalPodAutoscaler"}:           "v2",
	{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"}: "v1beta1",
	{Group: "events.k8s.io", Version: "v1", Kind: "Event"}:                           "v1",
}

// storageHash is how discovery shows the version a kind is stored in.
func storageHash(gvk schema.GroupVersionKind) string {
	if v, ok := storageVersions[gvk]; ok {
		gvk.Version = v
	}
	if gvk.Group == "events.k8s.io" {
		gvk.Group = ""
	}
	sum := sha256.Sum256([]byte(gvk.Group + "/" + gvk.Version + "/" + gvk.Kind))
	return base64.StdEncoding.EncodeToString(sum[:8])
}

package host

import "k8s.io/apimachinery/pkg/types"

// Patch is the body of a patch request.
type Patch struct {
	Type        types.PatchType
	Data        []byte
	Subresource string // "" or "status"
}

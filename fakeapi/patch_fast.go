package fakeapi

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/metapatch"
)

// patchMeta applies a patch of metadata alone without JSON, and shares the rest with the stored object. It returns
// nil for other patches, which [call.patchWhole] applies.
func (c *call) patchMeta(old *entry) runtime.Object {
	strategic := c.req.PatchType == types.StrategicMergePatchType
	if !strategic && c.req.PatchType != types.MergePatchType || c.s.manages(old.meta) {
		return nil
	}
	if _, ok := old.obj.(metav1.ObjectMetaAccessor); !ok {
		return nil
	}
	p, ok := metapatch.Parse(c.req.Patch, strategic)
	if !ok {
		return nil
	}
	obj := c.k.row.Shallow(old.obj)
	m := metadata.Of(obj)
	if !p.Apply(m, strategic) || c.k.row.Judged != nil && c.k.row.Judged(obj) != nil {
		return nil
	}
	return obj
}

// patchReplicas applies a merge patch of spec.replicas alone without JSON. It returns nil for other patches, which
// [call.patchWhole] applies.
func (c *call) patchReplicas(old *entry) runtime.Object {
	merges := c.req.PatchType == types.MergePatchType || c.req.PatchType == types.StrategicMergePatchType
	if !merges || c.k.row.Scale == nil || c.req.Subresource != "" || c.s.manages(old.meta) {
		return nil
	}
	if _, ok := old.obj.(metav1.ObjectMetaAccessor); !ok {
		return nil
	}
	n, ok := metapatch.ParseReplicas(c.req.Patch)
	if !ok {
		return nil
	}
	obj := c.k.row.Shallow(old.obj)
	c.k.row.Scale.Write(obj, n)
	return obj
}

package check

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/host"
)

// claimsStay returns a check that the deletion of an owner has deleted no claim that a Pod of a StatefulSet uses: the Pod is
// that of another owner. The StatefulSet creates its claims before the Pod. A claim is terminating as long as the Pod runs on
// a node.
func claimsStay(gone manifest) scenarios.Func {
	return func(user host.Client) error {
		if _, err := user.Get(context.Background(), gone.GroupVersionKind(), gone.GetNamespace(), gone.GetName()); err == nil {
			return nil
		}
		pods, err := user.List(context.Background(), core("Pod"), "", metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, o := range pods {
			pod := o.(metav1.Object)
			if pod.GetDeletionTimestamp() != nil {
				continue
			}
			volumes, _, _ := unstructured.NestedSlice(object(o), "spec", "volumes")
			for _, v := range volumes {
				name, _, _ := unstructured.NestedString(v.(map[string]any), "persistentVolumeClaim", "claimName")
				if !strings.HasSuffix(name, "-"+pod.GetName()) {
					continue // no claim of a StatefulSet
				}
				c, err := user.Get(context.Background(), core("PersistentVolumeClaim"), pod.GetNamespace(), name)
				if apierrors.IsNotFound(err) || err == nil && c.(metav1.Object).GetDeletionTimestamp() != nil {
					return fmt.Errorf("with %s, pvc/%s was deleted too, although pod/%s uses it", gone.at(), name, pod.GetName())
				}
			}
		}
		return nil
	}
}

func core(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Version: "v1", Kind: kind}
}

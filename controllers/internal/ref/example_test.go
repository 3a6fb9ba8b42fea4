package ref_test

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/controllers/internal/ref"
)

// The decision depends on the Pod's controller, and on whether the Pod is selected.
func ExampleDecide() {
	mine := &metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "mine"}
	orphan := &metav1.ObjectMeta{Namespace: "default", Name: "p"}
	isController := true
	controlled := func(uid types.UID) *metav1.ObjectMeta {
		return &metav1.ObjectMeta{Namespace: "default", Name: "p", OwnerReferences: []metav1.OwnerReference{
			{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: uid,
				Controller: &isController}}}
	}
	fmt.Println("selected, controlled by nobody:", ref.Decide(mine, orphan, true, &ref.Without{}))
	fmt.Println("selected, controlled by another:", ref.Decide(mine, controlled("another"), true, &ref.Without{}))
	fmt.Println("selected, controlled by it:", ref.Decide(mine, controlled("mine"), true, &ref.Without{}))
	fmt.Println("controlled by it, selected no more:", ref.Decide(mine, controlled("mine"), false, &ref.Without{}))
	// Output:
	// selected, controlled by nobody: adopt
	// selected, controlled by another: ignore
	// selected, controlled by it: keep
	// controlled by it, selected no more: release
}

package fakeapi_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
)

// An object has at most one controller. The server refuses a second one.
func ExampleServer_Do() {
	server := fakeapi.New(fakeapi.Options{})
	now := time.Date(2017, time.March, 1, 0, 0, 0, 0, time.UTC)
	create := func(name string, owners ...string) {
		cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
		for _, o := range owners {
			isController := true
			cm.OwnerReferences = append(cm.OwnerReferences, metav1.OwnerReference{APIVersion: "apps/v1",
				Kind: "ReplicaSet", Name: o, UID: types.UID("uid-of-" + o), Controller: &isController})
		}
		resp, events := server.Do(now, &fakeapi.Request{Verb: fakeapi.Create, Kind: server.KindOf(cm),
			Namespace: "default", Object: cm})
		if resp.Err != nil {
			fmt.Println(resp.Code, resp.Err.ErrStatus.Reason, resp.Err.ErrStatus.Details.Causes[0].Field)
			return
		}
		fmt.Println(resp.Code, events[0].Key)
	}
	create("mine", "a")
	create("shared", "a", "b")
	// Output:
	// 201 default/mine
	// 422 Invalid metadata.ownerReferences
}

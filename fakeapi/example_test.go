package fakeapi_test

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
)

// A request goes in with the time of day; a response and the changes come out.
func ExampleServer_Do() {
	server := fakeapi.New(fakeapi.Options{})
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	create := &fakeapi.Request{
		Verb: fakeapi.Create, Kind: server.KindNamed("cm"), Namespace: "default",
		Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a"}},
	}
	resp, events := server.Do(now, create)
	fmt.Println(resp.Code, resp.Err, len(events))
	resp, events = server.Do(now, create)
	fmt.Println(resp.Code, resp.Err, len(events))
	// Output:
	// 201 <nil> 1
	// 409 configmaps "a" already exists 0
}

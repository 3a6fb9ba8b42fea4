package httpapi_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
)

// client-go's clients work in each encoding. As on a real server with default feature gates, CBOR is not served: a client
// that prefers CBOR gets 415 once, and repeats the request in JSON.
func TestEncodings(t *testing.T) {
	for _, c := range []struct {
		name, contentType string
		cbor              bool
	}{{"JSON", "application/json", false}, {"protobuf", "application/vnd.kubernetes.protobuf", false}, {"CBOR", "", true}} {
		t.Run(c.name, func(t *testing.T) {
			for _, f := range []features.Feature{features.ClientsAllowCBOR, features.ClientsPreferCBOR} {
				featurestesting.SetFeatureDuringTest(t, f, c.cbor)
			}
			h := httpapi.New(fakeapi.New(fakeapi.Options{}), func() time.Time { return time.Unix(1488326400, 0) })
			defer h.Close()
			configs := kubernetes.NewForConfigOrDie(&rest.Config{Host: "http://fake", Transport: h.Transport(),
				ContentConfig: rest.ContentConfig{ContentType: c.contentType}}).CoreV1().ConfigMaps("default")
			w, err := configs.Watch(t.Context(), metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			defer w.Stop()
			for _, name := range []string{"a", "b"} {
				made, err := configs.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
				if err != nil || made.UID == "" {
					t.Fatal(made, err)
				}
				if e := <-w.ResultChan(); e.Object.(*corev1.ConfigMap).Name != name {
					t.Errorf("the watch shows %v", e)
				}
			}
			if list, err := configs.List(t.Context(), metav1.ListOptions{}); err != nil || len(list.Items) < 2 {
				t.Error(list, err)
			}
		})
	}
}

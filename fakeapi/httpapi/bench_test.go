package httpapi

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/codec"
	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

func newHandler() *Handler {
	return New(fakeapi.New(fakeapi.Options{}), func() time.Time { return time.Now().UTC() })
}

func benchPod(name string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"app": "web"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "img:1"}}},
	}
}

func encoded(tb testing.TB, obj runtime.Object) []byte {
	raw, err := codec.Proto(obj)
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

func roundTrip(tb testing.TB, t http.RoundTripper, method, url string, body []byte) int {
	req, err := http.NewRequestWithContext(context.Background(), method, url, bytes.NewReader(body))
	if err != nil {
		tb.Fatal(err)
	}
	req.Header.Set("Accept", media.Proto)
	req.Header.Set("Content-Type", media.Proto)
	resp, err := t.RoundTrip(req)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		tb.Fatal(err)
	}
	resp.Body.Close()
	return resp.StatusCode
}

const podsURL = "http://three.laws/api/v1/namespaces/default/pods"

func BenchmarkGet(b *testing.B) {
	t := newHandler().Transport()
	roundTrip(b, t, "POST", podsURL, encoded(b, benchPod("web-0")))
	b.ReportAllocs()
	for b.Loop() {
		if code := roundTrip(b, t, "GET", podsURL+"/web-0", nil); code != 200 {
			b.Fatal(code)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "gets/s")
}

func BenchmarkCreate(b *testing.B) {
	t := newHandler().Transport()
	pod := benchPod("")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		pod.Name = fmt.Sprintf("web-%d", i)
		if code := roundTrip(b, t, "POST", podsURL, encoded(b, pod)); code != 201 {
			b.Fatal(code)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "creates/s")
}

// BenchmarkWatchers delivers one event to 200 watchers. It reports the cost per watcher and event.
func BenchmarkWatchers(b *testing.B) {
	const watchers = 200
	h := newHandler()
	t := h.Transport()
	roundTrip(b, t, "POST", podsURL, encoded(b, benchPod("web-0")))
	var bodies []*watchBody
	for range watchers {
		req, err := http.NewRequest("GET", podsURL+"?watch=1&resourceVersion=1", nil)
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Accept", media.Proto)
		resp, err := t.RoundTrip(req)
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		bodies = append(bodies, resp.Body.(*watchBody))
	}
	buf := make([]byte, 8<<10)
	drain := func() {
		for _, body := range bodies {
			if n, err := body.Read(buf); err != nil || n == 0 {
				b.Fatal(n, err)
			}
		}
	}
	drain()
	patch := func(i int) {
		resp := h.do(&fakeapi.Request{Verb: fakeapi.Patch, Kind: podKind(h), Namespace: "default", Name: "web-0",
			PatchType: "application/merge-patch+json",
			Patch:     fmt.Appendf(nil, `{"metadata":{"labels":{"n":"%d"}}}`, i)})
		if resp.Err != nil {
			b.Fatal(resp.Err)
		}
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		patch(i)
		b.StartTimer()
		drain()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/watchers, "ns/event/watcher")
}

func podKind(h *Handler) (k *fakeapi.Kind) {
	h.With(func(s *fakeapi.Server) { k = s.Kind(corev1.SchemeGroupVersion.WithKind("Pod")) })
	return k
}

package kubectltest

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// TestInformers fills a typed, a dynamic and a metadata informer by watch-list
// and keeps them up to date, over a watch that the server ends as well.
func TestInformers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSession(t)
		c := must(kubernetes.NewForConfig(s.config()))(t)
		for _, name := range []string{"a", "b"} {
			must(c.CoreV1().Pods("default").Create(s.ctx, pod(name, nil), metav1.CreateOptions{}))(t)
		}
		ctx, stop := context.WithCancel(s.ctx)
		typed := informers.NewSharedInformerFactory(c, 0)
		untyped := dynamicinformer.NewDynamicSharedInformerFactory(must(dynamic.NewForConfig(s.config()))(t), 0)
		meta := metadatainformer.NewSharedInformerFactory(must(metadata.NewForConfig(s.config()))(t), 0)
		all := map[string]cache.SharedIndexInformer{
			"typed": typed.Core().V1().Pods().Informer(), "dynamic": untyped.ForResource(podResource).Informer(),
			"metadata": meta.ForResource(podResource).Informer(),
		}
		typed.Start(ctx.Done())
		untyped.Start(ctx.Done())
		meta.Start(ctx.Done())
		wantKeys := func(want ...string) {
			t.Helper()
			time.Sleep(10 * time.Second) // reconnecting takes its time
			for name, i := range all {
				got := i.GetStore().ListKeys()
				slices.Sort(got)
				if !i.HasSynced() || !slices.Equal(got, want) {
					t.Errorf("the %s informer has %v, want %v; synced: %v", name, got, want, i.HasSynced())
				}
			}
		}
		wantKeys("default/a", "default/b")
		if n := len(s.transport.lists); n > 0 {
			t.Errorf("with watch-list nobody lists, but there were %q", s.transport.lists)
		}
		must(c.CoreV1().Pods("default").Create(s.ctx, pod("c", nil), metav1.CreateOptions{}))(t)
		wantKeys("default/a", "default/b", "default/c")
		s.transport.hangUp()
		if err := c.CoreV1().Pods("default").Delete(s.ctx, "a", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		wantKeys("default/b", "default/c")
		stop()
		typed.Shutdown()
		untyped.Shutdown()
		meta.Shutdown()
	})
}

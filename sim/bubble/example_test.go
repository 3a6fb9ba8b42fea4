package bubble_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/trial"
)

// The program is an ordinary client-go program that labels every Namespace. It does not depend on the simulation.
func ExampleController() {
	run := func(ctx context.Context, cfg *rest.Config) error {
		client, err := kubernetes.NewForConfig(cfg)
		if err != nil {
			return err
		}
		w, err := client.CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for e := range w.ResultChan() {
			ns, err := meta(e.Object)
			if err != nil || ns.GetLabels()["seen"] != "" {
				continue
			}
			patch := []byte(`{"metadata":{"labels":{"seen":"yes"}}}`)
			if _, err := client.CoreV1().Namespaces().Patch(ctx, ns.GetName(), types.MergePatchType, patch,
				metav1.PatchOptions{}); err != nil {
				return err
			}
		}
		return ctx.Err()
	}

	t := trial.New(trial.Options{})
	defer t.Stop()
	t.Start("labeller", bubble.Controller(host.Controller{Name: "labeller"}, run))
	t.Settle(trial.Limits{})
	ns, _ := meta(t.Server.Lookup(t.Server.KindNamed("ns"), "", "default"))
	fmt.Println(ns.GetLabels()["seen"], t.Broken() == nil)
	// Output: yes true
}

func meta(obj any) (metav1.Object, error) {
	m, ok := obj.(metav1.Object)
	if !ok {
		return nil, fmt.Errorf("%T", obj)
	}
	return m, nil
}

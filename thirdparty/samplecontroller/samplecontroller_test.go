//go:build thirdparty

package main

import (
	"context"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubeinformers "k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/sample-controller/pkg/apis/samplecontroller/v1alpha1"
	clientset "k8s.io/sample-controller/pkg/generated/clientset/versioned"
	informers "k8s.io/sample-controller/pkg/generated/informers/externalversions"

	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/thirdparty/project"
)

// run starts the controller as the project's main does, without its flags and signal handling.
func run(ctx context.Context, cfg *rest.Config) error {
	kube, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	example, err := clientset.NewForConfig(cfg)
	if err != nil {
		return err
	}
	core := kubeinformers.NewSharedInformerFactory(kube, 30*time.Second)
	custom := informers.NewSharedInformerFactory(example, 30*time.Second)
	c := NewController(ctx, kube, example, core.Apps().V1().Deployments(), custom.Samplecontroller().V1alpha1().Foos())
	core.Start(ctx.Done())
	custom.Start(ctx.Done())
	return c.Run(ctx, 2)
}

func TestSampleController(t *testing.T) {
	klog.SetLogger(logr.Discard())
	project.Test(t, project.Project{
		Module: "k8s.io/sample-controller", Definitions: []string{"artifacts/examples/crd-status-subresource.yaml"},
		Controllers: []host.Controller{bubble.Controller(host.Controller{
			Name: "sample", For: v1alpha1.SchemeGroupVersion.WithKind("Foo"),
			Owns: []schema.GroupVersionKind{appsv1.SchemeGroupVersion.WithKind("Deployment")},
			Contract: law.Contract{
				MaxActive: func(runtime.Object) int { return 1 },
			},
		}, run)},
	})
}

package hosted

import (
	"context"
	"fmt"
	"time"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
	cacheddiscovery "k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/component-base/featuregate"
	"k8s.io/controller-manager/pkg/clientbuilder"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"

	"github.com/threelaws/threelaws/sim/bubble"
)

// protobuf is what kube-controller-manager speaks by default.
const protobuf = "application/vnd.kubernetes.protobuf"

// manager is what a controller's descriptor is given, as kube-controller-manager's command
// makes it, for one controller alone.
func manager(ctx context.Context, cfg *rest.Config, name string) (app.ControllerContext, func(), error) {
	var none app.ControllerContext
	component, err := options.NewDefaultComponentConfig()
	if err != nil {
		return none, nil, err
	}
	component.Generic.Controllers = []string{"*"}
	builder := clients{clientbuilder.SimpleControllerClientBuilder{ClientConfig: rest.CopyConfig(cfg)}}
	builder.ClientConfig.ContentType = protobuf
	client, err := builder.Client("shared-informers")
	if err != nil {
		return none, nil, err
	}
	meta, err := metadata.NewForConfig(cfg)
	if err != nil {
		return none, nil, err
	}
	discovery, err := builder.DiscoveryClient("controller-discovery")
	if err != nil {
		return none, nil, err
	}
	typed := bubble.Informers(client, 0)
	partial := bubble.MetadataInformers(meta, 0)
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(cacheddiscovery.NewMemCacheClient(discovery))
	c := app.ControllerContext{
		ClientBuilder: builder, InformerFactory: typed,
		ObjectOrMetadataInformerFactory: informerfactory.NewInformerFactory(typed, partial),
		ComponentConfig:                 component,
		RESTMapper:                      mapper,
		InformersStarted:                make(chan struct{}),
		ResyncPeriod:                    func() time.Duration { return component.Generic.MinResyncPeriod.Duration },
	}
	if name == names.GarbageCollectorController {
		c.GraphBuilder = graph(ctx, &c, meta)
	}
	return c, func() {
		typed.StartWithContext(ctx)
		partial.Start(ctx.Done())
		close(c.InformersStarted)
	}, nil
}

// graph is what the garbage collector knows of who depends on whom. The command's options leave
// out of it what is left out by default, which the configuration alone does not name.
func graph(ctx context.Context, c *app.ControllerContext, meta metadata.Interface) *garbagecollector.GraphBuilder {
	return garbagecollector.NewDependencyGraphBuilder(ctx, meta, c.RESTMapper,
		garbagecollector.DefaultIgnoredResources(), c.ObjectOrMetadataInformerFactory, c.InformersStarted)
}

// run runs the controller of a name until its context ends. Feature gates are looked at when
// it is built, and only one program of the Go process runs at a time.
func run(ctx context.Context, cfg *rest.Config, name string, off []featuregate.Feature) error {
	descriptor := app.NewControllerDescriptors()[name]
	if descriptor == nil {
		return fmt.Errorf("kube-controller-manager has no controller %s", name)
	}
	c, begin, err := manager(ctx, cfg, name)
	if err != nil {
		return err
	}
	restore, err := without(off)
	if err != nil {
		return err
	}
	controller, err := descriptor.BuildController(ctx, c)
	restore()
	if err != nil {
		return err
	}
	if controller == nil {
		<-ctx.Done() // it is switched off by a feature gate
		return ctx.Err()
	}
	begin()
	controller.Run(ctx)
	return ctx.Err()
}

// without switches feature gates off, until the function is called that it returns.
func without(off []featuregate.Feature) (restore func(), err error) {
	for _, f := range off {
		if err := utilfeature.DefaultMutableFeatureGate.Set(string(f) + "=false"); err != nil {
			return nil, err
		}
	}
	return func() {
		for _, f := range off {
			if err := utilfeature.DefaultMutableFeatureGate.Set(string(f) + "=true"); err != nil {
				panic("hosted: " + err.Error())
			}
		}
	}, nil
}

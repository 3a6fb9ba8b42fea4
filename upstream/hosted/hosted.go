// Package hosted contains kube-controller-manager's own controllers, of k8s.io/kubernetes, as programs of
// package bubble. Each is built by its descriptor in upstream's registry, and runs unmodified as a process with its own
// caches.
package hosted

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/client-go/discovery"
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
	"k8s.io/kubernetes/pkg/features"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// protobuf is kube-controller-manager's default encoding.
const protobuf = "application/vnd.kubernetes.protobuf"

// manager returns the context that kube-controller-manager's command gives a controller's descriptor, and a function
// that starts the informers.
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

// graph returns the garbage collector's graph. The kinds that it ignores are a default of the command's flags, not of
// the configuration. So they are set here.
func graph(ctx context.Context, c *app.ControllerContext, meta metadata.Interface) *garbagecollector.GraphBuilder {
	return garbagecollector.NewDependencyGraphBuilder(ctx, meta, c.RESTMapper,
		garbagecollector.DefaultIgnoredResources(), c.ObjectOrMetadataInformerFactory, c.InformersStarted)
}

// run runs a controller until its context ends. It disables the gates in off while it builds the controller, which
// reads them. Programs of a Go process run one at a time, so no other controller is built meanwhile.
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
		<-ctx.Done() // a feature gate disables the controller
		return ctx.Err()
	}
	begin()
	controller.Run(ctx)
	return ctx.Err()
}

// without disables feature gates until restore is called.
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

const (
	Era = "upstream"
	// Unguarded is the era before v1.36, in which the feature gate of the guard is off. The guard makes a reconcile
	// wait until the caches show the controller's last writes. Only some controllers have it.
	Unguarded = "upstream-unguarded"
)

var guards = map[string]featuregate.Feature{
	names.DaemonSetController:   features.StaleControllerConsistencyDaemonSet,
	names.JobController:         features.StaleControllerConsistencyJob,
	names.ReplicaSetController:  features.StaleControllerConsistencyReplicaSet,
	names.StatefulSetController: features.StaleControllerConsistencyStatefulSet,
}

// Controllers returns the controllers of upstream that [builtin.Registry] has too. It takes their declarations, such as
// the Contract, from the newest era there. A controller with a gate in guards is also returned in the era [Unguarded].
func Controllers() []host.Controller {
	var all []host.Controller
	aliases, descriptors := app.ControllerAliases(), app.NewControllerDescriptors()
	for _, c := range builtin.Registry().Controllers {
		name := aliases[c.Name]
		if c.Name == "replication" {
			name = names.ReplicationControllerController
		}
		if n := c.Name + "-controller"; name == "" && descriptors[n] != nil {
			name = n
		}
		if name == "" {
			continue
		}
		all = slices.DeleteFunc(all, func(older host.Controller) bool { return older.Name == c.Name })
		if guards[name] != "" {
			old := Controller(name, c, guards[name])
			old.Era = Unguarded
			all = append(all, old)
		}
		all = append(all, Controller(name, c))
	}
	return all
}

// Registry returns the registry of the command threelaws with upstream's controllers added, for example
// "replicaset@upstream".
func Registry() *scenarios.Registry {
	g := builtin.Registry()
	g.Controllers = append(Controllers(), g.Controllers...) // the last controller with a name is the default
	return g
}

// Controller returns upstream's controller with this name. It has the declarations of the parameter as, the reference
// controller of the same objects. The feature gates in off are disabled.
func Controller(name string, as host.Controller, off ...featuregate.Feature) host.Controller {
	as.Era = Era
	return bubble.Controller(as, func(ctx context.Context, cfg *rest.Config) error { return run(ctx, cfg, name, off) })
}

// clients gives each controller its clients. Their discovery clients decode equal documents once, because the garbage
// collector reads them every 30 seconds of virtual time.
type clients struct {
	clientbuilder.SimpleControllerClientBuilder
}

func (c clients) DiscoveryClient(name string) (discovery.DiscoveryInterface, error) {
	d, err := c.SimpleControllerClientBuilder.DiscoveryClient(name)
	if err != nil {
		return nil, err
	}
	return decodesOnce{d}, nil
}

func (c clients) DiscoveryClientOrDie(name string) discovery.DiscoveryInterface {
	return decodesOnce{c.SimpleControllerClientBuilder.DiscoveryClientOrDie(name)}
}

// decodesOnce requests the discovery documents at each call, but decodes equal documents only once.
type decodesOnce struct{ discovery.DiscoveryInterface }

// decoded contains the preferred resources; its key is the text of the documents. Callers do not change the lists.
var decoded sync.Map

func (d decodesOnce) ServerPreferredResources() ([]*metav1.APIResourceList, error) {
	documents := documents{}
	for _, path := range []string{"/api", "/apis"} {
		body, err := d.RESTClient().Get().AbsPath(path).SetHeader("Accept", discovery.AcceptV2).DoRaw(context.TODO())
		if err != nil {
			return d.DiscoveryInterface.ServerPreferredResources() // this call handles errors and older servers
		}
		documents[path] = string(body)
	}
	key := documents["/api"] + documents["/apis"]
	if lists, ok := decoded.Load(key); ok {
		return lists.([]*metav1.APIResourceList), nil
	}
	offline, err := discovery.NewDiscoveryClientForConfigAndClient(&rest.Config{}, &http.Client{Transport: documents})
	if err != nil {
		return nil, err
	}
	lists, err := offline.ServerPreferredResources()
	if err == nil {
		decoded.Store(key, lists)
	}
	return lists, err
}

// documents is a RoundTripper that answers discovery requests from stored documents. Its keys are URL paths.
type documents map[string]string

func (d documents) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Request: r,
		Header: http.Header{"Content-Type": {discovery.AcceptV2}},
		Body:   io.NopCloser(bytes.NewReader([]byte(d[r.URL.Path])))}, nil
}

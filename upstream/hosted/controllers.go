package hosted

import (
	"context"

	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// Generation is the generation of the controllers of this package.
const Generation = "upstream"

// Controllers are upstream's own controllers of those names that the table of controllers
// has, with what its newest generation says of them for the laws.
func Controllers() []host.Controller {
	var all []host.Controller
	aliases, descriptors := app.ControllerAliases(), app.NewControllerDescriptors()
	for _, c := range cli.Builtin().Controllers {
		name := aliases[c.Name]
		if n := c.Name + "-controller"; name == "" && descriptors[n] != nil {
			name = n
		}
		if name == "" {
			continue
		}
		c = Controller(name, c)
		if n := len(all); n > 0 && all[n-1].Name == c.Name {
			all[n-1] = c
			continue
		}
		all = append(all, c)
	}
	return all
}

// Registry is everything that the command threelaws knows, and upstream's own controllers
// beside: "controllers replicaset@upstream".
func Registry() *scenarios.Registry {
	g := cli.Builtin()
	g.Controllers = append(Controllers(), g.Controllers...) // the last of a name is its default
	return g
}

// Controller is upstream's controller of a name, described as another is: one that makes
// the same of the same objects.
func Controller(name string, as host.Controller) host.Controller {
	as.Generation = Generation
	return bubble.Controller(as, func(ctx context.Context, cfg *rest.Config) error { return run(ctx, cfg, name) })
}

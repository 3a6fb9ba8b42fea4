package project

import (
	"context"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/threelaws/threelaws/sim/bubble"
	"github.com/threelaws/threelaws/sim/host"
)

// Program returns a function that makes a program from the setup of a project's controller. The controller runs in a
// manager of controller-runtime with the project's types, as a program of package bubble. Caches list by name, and
// generated names are the same after each restart, so that a run can be repeated.
func Program(scheme *runtime.Scheme, add ...func(*runtime.Scheme) error) func(as host.Controller,
	setup func(mgr ctrl.Manager) error) host.Controller {
	for _, f := range add {
		if err := f(scheme); err != nil {
			panic("project: " + err.Error())
		}
	}
	return func(as host.Controller, setup func(mgr ctrl.Manager) error) host.Controller {
		return bubble.Controller(as, func(ctx context.Context, cfg *rest.Config) error {
			rand.Seed(1)
			mgr, err := ctrl.NewManager(cfg, ctrl.Options{
				Scheme: scheme, Logger: logr.Discard(),
				Metrics: server.Options{BindAddress: "0"},
				// A world starts the controller again after each crash, with the same name.
				Controller: config.Controller{SkipNameValidation: ptr.To(true)},
				Cache:      cache.Options{NewInformer: bubble.NewInformer},
			})
			if err != nil {
				return err
			}
			if err := setup(mgr); err != nil {
				return err
			}
			return mgr.Start(ctx)
		})
	}
}

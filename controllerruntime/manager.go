package controllerruntime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/ptr"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/conversion"
)

// recordingManager is the manager of one process. It keeps the controllers that are added
// to it; the host runs them.
type recordingManager struct {
	p           *process
	client      client.Client
	controllers []*controller
	left        []string // of LeaveOut: what was left out
}

func newManager(p *process) *recordingManager {
	m := &recordingManager{p: p, client: apiClient{p}}
	if p.o.Client != nil {
		m.client = p.o.Client(m.client)
	}
	return m
}

// Add keeps a controller. Anything else that would run is refused, unless it is to be
// left out.
func (m *recordingManager) Add(r manager.Runnable) error {
	c, err := controllerOf(r)
	if c != nil || err != nil {
		m.controllers = append(m.controllers, c)
		return err
	}
	name := fmt.Sprintf("%T", r)
	if m.leaves(name) {
		return nil
	}
	return fmt.Errorf("controllerruntime: the setup adds a %s to its manager: only controllers run here. "+
		"Name it in Options.LeaveOut if it makes no difference", name)
}

// leaves reports whether something of this name is to be left out.
func (m *recordingManager) leaves(name string) bool {
	if !slices.Contains(m.p.o.LeaveOut, name) {
		return false
	}
	m.left = append(m.left, name)
	return true
}

// leftOut is an error where Options.LeaveOut names what the setup does not add.
func (p *process) leftOut() error {
	for _, name := range p.o.LeaveOut {
		if !slices.Contains(p.manager.left, name) {
			return fmt.Errorf("LeaveOut names %q, which the setup does not add", name)
		}
	}
	return nil
}

// GetClient returns a client that reads from the cache and writes to the server.
func (m *recordingManager) GetClient() client.Client { return m.client }

// GetAPIReader returns a reader that asks the server.
func (m *recordingManager) GetAPIReader() client.Reader { return apiReader{m.p} }

// GetCache returns the process's cache.
func (m *recordingManager) GetCache() ctrlcache.Cache { return simulatedCache{cacheReader{m.p}} }

// GetFieldIndexer returns the process's cache.
func (m *recordingManager) GetFieldIndexer() client.FieldIndexer { return m.GetCache() }

// GetScheme returns the scheme that was given to [Controllers].
func (m *recordingManager) GetScheme() *runtime.Scheme { return m.p.scheme }

// GetRESTMapper returns a mapper of what the server serves.
func (m *recordingManager) GetRESTMapper() meta.RESTMapper { return m.p.mapper }

// GetLogger returns the options' logger.
func (m *recordingManager) GetLogger() logr.Logger { return m.p.o.Logger }

// GetControllerOptions returns those of [Options]. A name may be used at every start.
func (m *recordingManager) GetControllerOptions() config.Controller {
	o := m.p.o.Controller
	o.SkipNameValidation = ptr.To(true)
	return o
}

// GetEventRecorderFor returns a recorder of the old events API.
func (m *recordingManager) GetEventRecorderFor(name string) record.EventRecorder {
	return oldRecorder{m.p, name}
}

// GetEventRecorder returns a recorder of the new events API.
func (m *recordingManager) GetEventRecorder(name string) events.EventRecorder {
	return newRecorder{m.p, name}
}

// Elected is closed: a process runs only while it leads.
func (m *recordingManager) Elected() <-chan struct{} {
	elected := make(chan struct{})
	close(elected)
	return elected
}

// errNoWire answers requests that would leave the simulation.
var errNoWire = errors.New("controllerruntime: there is no wire under a simulated manager: clients made of its " +
	"config are not part of the schedule; use GetClient or GetAPIReader")

type noWire struct{}

// RoundTrip refuses the request.
func (noWire) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNoWire }

// GetConfig returns a config all of whose requests are refused by name.
func (m *recordingManager) GetConfig() *rest.Config {
	return &rest.Config{Host: "http://simulated.invalid", Transport: noWire{}}
}

// GetHTTPClient returns a client all of whose requests are refused by name.
func (m *recordingManager) GetHTTPClient() *http.Client { return &http.Client{Transport: noWire{}} }

// Start is refused: the host starts what the setup added.
func (m *recordingManager) Start(context.Context) error {
	return errors.New("controllerruntime: the manager is not to be started: the host runs the controllers " +
		"that the setup adds to it")
}

// AddHealthzCheck, AddReadyzCheck and AddMetricsServerExtraHandler have no effect on what
// controllers do: nobody asks a simulated process for its health.
func (m *recordingManager) AddHealthzCheck(string, healthz.Checker) error { return nil }

// AddReadyzCheck has no effect.
func (m *recordingManager) AddReadyzCheck(string, healthz.Checker) error { return nil }

// AddMetricsServerExtraHandler has no effect.
func (m *recordingManager) AddMetricsServerExtraHandler(string, http.Handler) error { return nil }

// GetConverterRegistry returns a registry that nobody asks: conversion is the server's
// own ([fakeapi.Options.Convert]).
func (m *recordingManager) GetConverterRegistry() conversion.Registry {
	return conversion.NewRegistry()
}

// GetWebhookServer returns a server that registers only what is to be left out.
func (m *recordingManager) GetWebhookServer() webhook.Server {
	return webhooks{Server: webhook.NewServer(webhook.Options{}), m: m}
}

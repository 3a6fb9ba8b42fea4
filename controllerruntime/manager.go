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

	"github.com/threelaws/threelaws/sim/host"
)

// recordingManager is the manager that a setup gets. It records the setup's controllers, which the host then runs.
type recordingManager struct {
	p           *process
	client      client.Client
	controllers []*controller
	left        []string // the names in Options.LeaveOut that the setup has used
}

func newManager(p *process) *recordingManager {
	m := &recordingManager{p: p, client: apiClient{p}}
	if p.o.Client != nil {
		m.client = p.o.Client(m.client)
	}
	return m
}

// Add records a controller. It refuses any other runnable unless LeaveOut names it.
func (m *recordingManager) Add(r manager.Runnable) error {
	c, err := controllerOf(r)
	if err != nil {
		return err
	}
	if c != nil {
		m.controllers = append(m.controllers, c)
		return nil
	}
	name := fmt.Sprintf("%T", r)
	if m.leaves(name) {
		return nil
	}
	return fmt.Errorf("controllerruntime: the setup adds a %s to its manager: only controllers run here. "+
		"Name it in Options.LeaveOut if it makes no difference", name)
}

// leaves reports whether LeaveOut has a name, and records that the setup uses it.
func (m *recordingManager) leaves(name string) bool {
	if !slices.Contains(m.p.o.LeaveOut, name) {
		return false
	}
	m.left = append(m.left, name)
	return true
}

// leftOut returns an error if Options.LeaveOut has a name that the setup does not add.
func (p *process) leftOut() error {
	for _, name := range p.o.LeaveOut {
		if !slices.Contains(p.manager.left, name) {
			return fmt.Errorf("LeaveOut names %q, which the setup does not add", name)
		}
	}
	return nil
}

func (m *recordingManager) GetClient() client.Client { return m.client }

func (m *recordingManager) GetAPIReader() client.Reader { return apiReader{m.p} }

func (m *recordingManager) GetCache() ctrlcache.Cache { return simulatedCache{cacheReader{m.p}} }

func (m *recordingManager) GetFieldIndexer() client.FieldIndexer { return m.GetCache() }

func (m *recordingManager) GetScheme() *runtime.Scheme { return m.p.scheme }

func (m *recordingManager) GetRESTMapper() meta.RESTMapper { return m.p.mapper }

func (m *recordingManager) GetLogger() logr.Logger { return m.p.o.Logger }

// GetControllerOptions returns [Options.Controller]. It allows repeated names, because every start uses the same ones.
func (m *recordingManager) GetControllerOptions() config.Controller {
	o := m.p.o.Controller
	o.SkipNameValidation = ptr.To(true)
	return o
}

func (m *recordingManager) GetEventRecorderFor(name string) record.EventRecorder {
	return oldRecorder{m.p, name}
}

func (m *recordingManager) GetEventRecorder(name string) events.EventRecorder {
	return newRecorder{m.p, name}
}

// Elected returns a closed channel, because a process runs only while it leads.
func (m *recordingManager) Elected() <-chan struct{} {
	elected := make(chan struct{})
	close(elected)
	return elected
}

// errNoWire is the error of requests that would leave the simulation.
var errNoWire = errors.New("controllerruntime: there is no wire under a simulated manager: clients made of its " +
	"config are not part of the schedule; use GetClient or GetAPIReader")

type noWire struct{}

func (noWire) RoundTrip(*http.Request) (*http.Response, error) { return nil, errNoWire }

// GetConfig returns a config. Requests with it are refused.
func (m *recordingManager) GetConfig() *rest.Config {
	return &rest.Config{Host: "http://simulated.invalid", Transport: noWire{}}
}

// GetHTTPClient returns a client whose requests are refused.
func (m *recordingManager) GetHTTPClient() *http.Client { return &http.Client{Transport: noWire{}} }

func (m *recordingManager) Start(context.Context) error {
	return errors.New("controllerruntime: the manager is not to be started: the host runs the controllers " +
		"that the setup adds to it")
}

// Health checks and metrics have no effect on controllers.
func (m *recordingManager) AddHealthzCheck(string, healthz.Checker) error { return nil }

func (m *recordingManager) AddReadyzCheck(string, healthz.Checker) error { return nil }

func (m *recordingManager) AddMetricsServerExtraHandler(string, http.Handler) error { return nil }

// GetConverterRegistry returns a registry without effect, because the server itself converts
// ([fakeapi.Options.Convert]).
func (m *recordingManager) GetConverterRegistry() conversion.Registry {
	return conversion.NewRegistry()
}

func (m *recordingManager) GetWebhookServer() webhook.Server {
	return webhooks{Server: webhook.NewServer(webhook.Options{}), m: m}
}

// webhooks is a webhook server that serves nothing.
type webhooks struct {
	webhook.Server
	m *recordingManager
}

// Register refuses a webhook unless LeaveOut lists it, because a controller may behave differently without its
// webhooks.
func (w webhooks) Register(path string, _ http.Handler) {
	if !w.m.leaves(path) {
		panic(host.Misuse("the setup registers the webhook " + path + ": webhooks do not run here; the world's " +
			"server has its own (simtest.Case.Server). Name it in Options.LeaveOut, or set webhooks up elsewhere"))
	}
}

func (w webhooks) Start(context.Context) error {
	return errors.New("controllerruntime: no webhook server runs here")
}

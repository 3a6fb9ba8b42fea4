// Command manager creates a Secret for each ConfigMap. Its main has the form that kubebuilder generates.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

type keeper struct {
	client.Client
	live    client.Reader
	careful bool // checks deletionTimestamp
}

// Reconcile creates the Secret of a ConfigMap, or adopts one that has no controller.
func (k *keeper) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var owner corev1.ConfigMap
	if err := k.Get(ctx, req.NamespacedName, &owner); err != nil || k.careful && owner.DeletionTimestamp != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if poll := os.Getenv("POLL"); poll != "" {
		return k.polls(ctx, req, poll)
	}
	if os.Getenv("STAMP") != "" {
		return ctrl.Result{}, k.stamp(ctx, &owner)
	}
	if os.Getenv("STUCK") != "" {
		<-make(chan bool)
	}
	if os.Getenv("PANIC") != "" {
		var seen map[string]bool
		seen[req.Name] = true
	}
	var s corev1.Secret
	if err := k.Get(ctx, req.NamespacedName, &s); err == nil {
		return ctrl.Result{}, k.adopt(ctx, &owner, &s)
	} else if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	s.Namespace, s.Name = owner.Namespace, owner.Name
	if err := controllerutil.SetControllerReference(&owner, &s, k.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	if os.Getenv("SPREAD") == "" {
		return ctrl.Result{}, client.IgnoreAlreadyExists(k.Create(ctx, &s))
	}
	done := make(chan error)
	go func() { done <- k.Create(ctx, &s) }()
	return ctrl.Result{}, client.IgnoreAlreadyExists(<-done)
}

// adopt makes the ConfigMap the controller of a Secret that has none, after a check of the live ConfigMap.
func (k *keeper) adopt(ctx context.Context, owner *corev1.ConfigMap, s *corev1.Secret) error {
	if metav1.GetControllerOf(s) != nil {
		return nil
	}
	var live corev1.ConfigMap
	if err := k.live.Get(ctx, client.ObjectKeyFromObject(owner), &live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if live.UID != owner.UID || k.careful && live.DeletionTimestamp != nil || s.DeletionTimestamp != nil {
		return nil
	}
	adopted := s.DeepCopy()
	if err := controllerutil.SetControllerReference(owner, adopted, k.Scheme()); err != nil {
		return err
	}
	return k.Update(ctx, adopted)
}

// polls reconciles the key again after an interval ("1s") without an event. With the prefix "live ", it reads the ConfigMap
// from the server each time. For m0 it fails if FAIL is set.
func (k *keeper) polls(ctx context.Context, req ctrl.Request, poll string) (ctrl.Result, error) {
	if os.Getenv("FAIL") != "" && req.Name == "m0" {
		return ctrl.Result{}, errors.New("not yet")
	}
	text, live := strings.CutPrefix(poll, "live ")
	every, err := time.ParseDuration(text)
	if live {
		err = errors.Join(err, k.live.Get(ctx, req.NamespacedName, &corev1.ConfigMap{}))
	}
	return ctrl.Result{RequeueAfter: every}, err
}

// stamp writes into the Secret of a ConfigMap which version of the Secret it has read from the cache, after a live read.
func (k *keeper) stamp(ctx context.Context, owner *corev1.ConfigMap) error {
	var live corev1.ConfigMap
	if err := k.live.Get(ctx, client.ObjectKeyFromObject(owner), &live); err != nil {
		return client.IgnoreNotFound(err)
	}
	var s corev1.Secret
	if err := k.Get(ctx, client.ObjectKeyFromObject(owner), &s); err != nil || s.Annotations["for"] == live.ResourceVersion {
		return client.IgnoreNotFound(err)
	}
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"for":%q,"saw":%q}}}`, live.ResourceVersion, s.ResourceVersion)
	return k.Patch(ctx, &s, client.RawPatch(types.MergePatchType, []byte(patch)))
}

func main() {
	var metrics, probes string
	var elect bool
	flag.StringVar(&metrics, "metrics-bind-address", ":8080", "where metrics are served")
	flag.StringVar(&probes, "health-probe-bind-address", ":8081", "where probes are answered")
	flag.BoolVar(&elect, "leader-elect", false, "run only while elected")
	logging := zap.Options{Development: true}
	logging.BindFlags(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logging)))

	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme,
		Metrics: server.Options{BindAddress: metrics}, HealthProbeBindAddress: probes,
		LeaderElection: elect, LeaderElectionID: "keeper.example.com"})
	if err != nil {
		ctrl.Log.Error(err, "unable to create the manager")
		os.Exit(1)
	}
	err = ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(&keeper{
		mgr.GetClient(), mgr.GetAPIReader(), os.Getenv("CARELESS") == ""})
	if err != nil {
		ctrl.Log.Error(err, "unable to create the controller")
		os.Exit(1)
	}
	utilruntime.Must(mgr.AddHealthzCheck("healthz", healthz.Ping))
	utilruntime.Must(mgr.AddReadyzCheck("readyz", healthz.Ping))
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		ctrl.Log.Error(err, "the manager ended")
		os.Exit(1)
	}
}

package operators

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Manager runs a controller on controller-runtime until the context ends. once gives it a bug: it creates no Secret
// twice. With unique, the controller's name must be unique in the process.
func Manager(ctx context.Context, cfg *rest.Config, once, unique bool) error {
	anyName := !unique
	mgr, err := ctrl.NewManager(cfg, ctrl.Options{Scheme: clientgoscheme.Scheme, Metrics: server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: &anyName}})
	if err != nil {
		return err
	}
	k := &keeper{mgr.GetClient(), mgr.GetAPIReader(), once, map[string]bool{}}
	if err := ctrl.NewControllerManagedBy(mgr).For(&corev1.ConfigMap{}).Owns(&corev1.Secret{}).Complete(k); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

type keeper struct {
	client.Client
	live client.Reader
	once bool
	made map[string]bool
}

// Reconcile creates the Secret of a ConfigMap, or adopts one that has no controller.
func (k *keeper) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	var owner corev1.ConfigMap
	if err := k.Get(ctx, req.NamespacedName, &owner); err != nil || owner.DeletionTimestamp != nil || owner.Name == rootCA {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	var s corev1.Secret
	switch err := k.Get(ctx, req.NamespacedName, &s); {
	case err == nil:
		return ctrl.Result{}, k.adopt(ctx, &owner, &s)
	case client.IgnoreNotFound(err) != nil:
		return ctrl.Result{}, err
	case k.once && k.made[req.String()]:
		return ctrl.Result{}, nil
	}
	s.Namespace, s.Name = owner.Namespace, owner.Name
	if err := controllerutil.SetControllerReference(&owner, &s, k.Scheme()); err != nil {
		return ctrl.Result{}, err
	}
	err := k.Create(ctx, &s)
	k.made[req.String()] = err == nil
	return ctrl.Result{}, client.IgnoreAlreadyExists(err)
}

// adopt makes the ConfigMap the controller of a Secret that has none, after a check of the live ConfigMap.
func (k *keeper) adopt(ctx context.Context, owner *corev1.ConfigMap, s *corev1.Secret) error {
	if metav1.GetControllerOf(s) != nil || s.DeletionTimestamp != nil {
		return nil
	}
	var live corev1.ConfigMap
	if err := k.live.Get(ctx, client.ObjectKeyFromObject(owner), &live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if live.UID != owner.UID || live.DeletionTimestamp != nil {
		return nil
	}
	if err := controllerutil.SetControllerReference(owner, s, k.Scheme()); err != nil {
		return err
	}
	return k.Update(ctx, s)
}

package convicted_test

import (
	"context"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// tallying creates the ConfigMap result once it sees the ConfigMap a, with the number of Secrets in its cache.
var tallying = host.Controller{Name: "tally", For: corev1.SchemeGroupVersion.WithKind("ConfigMap"),
	Routes: []host.Route{{Kind: corev1.SchemeGroupVersion.WithKind("ConfigMap"), Do: func(_ host.View, e host.Event, out *host.Effect) {
		if e.New != nil && e.New.(metav1.Object).GetName() == "a" {
			out.Keys = append(out.Keys, "default/a")
		}
	}}},
	New: func(env *host.Env) host.Reconciler {
		secrets := env.Informer(corev1.SchemeGroupVersion.WithKind("Secret"))
		return host.SyncFunc(func(ctx context.Context, _ string) error {
			m := &corev1.ConfigMap{Data: map[string]string{"is": strconv.Itoa(len(secrets.GetStore().List()))}}
			m.Namespace, m.Name = "default", "result"
			if _, err := env.Client.Create(ctx, m); !apierrors.IsAlreadyExists(err) {
				return err
			}
			return nil
		})
	}}

var wrongOrders = []wrong{{
	name: "lets what its cache lacks decide", law: "EXACT-13",
	tell: []string{"cm/result: data.is is 0, and 1 in a quiet run"},
	run: simtest.Case{SameEnd: true, Settled: true, Controllers: []host.Controller{tallying}, User: []simtest.Action{
		simtest.Apply("apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")}},
}}

package trial_test

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
	"github.com/threelaws/threelaws/sim/law"
	"github.com/threelaws/threelaws/sim/trial"
)

// careless creates a Secret for each ConfigMap, without an owner reference.
func careless() host.Controller {
	maps, secrets := corev1.SchemeGroupVersion.WithKind("ConfigMap"), corev1.SchemeGroupVersion.WithKind("Secret")
	return host.Controller{
		Name: "careless", For: maps, Owns: []schema.GroupVersionKind{secrets},
		Routes: []host.Route{{Kind: maps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if e.New != nil {
				out.Keys = append(out.Keys, e.New.(*corev1.ConfigMap).Name)
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			return host.SyncFunc(func(ctx context.Context, key string) error {
				_, err := env.Client.Create(ctx,
					&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: key}})
				return err
			})
		},
	}
}

func create(t *trial.Trial, name string) {
	_, err := t.Request(&fakeapi.Request{
		Verb: fakeapi.Create, Kind: t.Server.KindNamed("cm"), Namespace: "default",
		Object: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}},
	})
	if err != nil {
		fmt.Println(err)
	}
}

// One run of one controller until the world settles, under all laws.
func Example() {
	t := trial.New(trial.Options{})
	defer t.Stop()
	t.Start("careless", careless())
	create(t, "a")
	fmt.Println("settled:", t.Settle(trial.Limits{}).Settled)
	fmt.Println(t.Broken().Law.Name)
	// Output:
	// settled: true
	// take-ownership
}

func Example_lawOfYourOwn() {
	quiet := &law.Law{
		ID: "MINE-1", Name: "no-secrets", Sentence: "Nobody writes secrets.", Source: "our own rules",
		Needs: law.Commits,
		New: law.On(func(j *law.Judge, r *sim.Record) {
			if r.Object.Kind == "Secret" {
				j.Report(law.Informed, r.Process+" wrote "+r.Object.String())
			}
		}, sim.Commit),
	}
	t := trial.New(trial.Options{Laws: []*law.Law{quiet}})
	defer t.Stop()
	t.Start("careless", careless())
	create(t, "a")
	t.Settle(trial.Limits{})
	fmt.Println(t.Broken().Law.Name+":", t.Broken().Text)
	// Output:
	// no-secrets: careless wrote secret/a
}

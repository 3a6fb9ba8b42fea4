package conformance

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim/host"
)

// backups makes a Secret for each ConfigMap at every tick of a clock, up to so many.
func backups(every time.Duration, most int) host.Controller {
	maps := corev1.SchemeGroupVersion.WithKind("ConfigMap")
	return host.Controller{
		Name: "backups", For: maps,
		Routes: []host.Route{{Kind: maps, Do: func(_ host.View, e host.Event, out *host.Effect) {
			if o, _ := e.New.(metav1.Object); o != nil {
				out.Keys = append(out.Keys, o.GetNamespace()+"/"+o.GetName())
			}
		}}},
		New: func(env *host.Env) host.Reconciler {
			owners := env.Informer(maps).GetIndexer()
			return host.SyncFunc(func(ctx context.Context, key string) error {
				o, ok, _ := owners.GetByKey(key)
				if !ok || o.(*corev1.ConfigMap).DeletionTimestamp != nil {
					return nil
				}
				m := o.(*corev1.ConfigMap)
				tick := int(time.Since(m.CreationTimestamp.Time) / every)
				if tick > most {
					return nil
				}
				env.Queue.AddAfter(key, m.CreationTimestamp.Add(time.Duration(tick+1)*every).Sub(time.Now()))
				_, err := env.Client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace,
					Name:            m.Name + "-" + strconv.Itoa(tick),
					OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, maps)}}})
				if apierrors.IsAlreadyExists(err) {
					return nil
				}
				return err
			})
		},
	}
}

// A world of a controller that creates something at every tick ends after the third, or when For says so. One that
// comes to an end by itself is not cut off.
func TestTicks(t *testing.T) {
	for _, c := range []struct {
		name string
		of   host.Controller
		last time.Duration
		says string // of the clock; "" for nothing
	}{
		{"for ever", backups(time.Hour, 1_000_000), 0, "creates a Secret every 1h0m0s, for ever: a world ends after the third, at 2h24m0s"},
		{"given a time", backups(time.Hour, 1_000_000), 90 * time.Minute, "a world ends after 1h30m0s"},
		{"a rollout", backups(time.Minute, 5), 0, ""},
		{"a loop", backups(5*time.Second, 20), 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := prepared(t, Subject{Controller: c.of, Samples: []string{"testdata/configmap.yaml"}, For: c.last}).String()
			line := "  by clock    " + c.says + "\n"
			if c.says == "" && strings.Contains(text, "by clock") || c.says != "" && !strings.Contains(text, line) {
				t.Errorf("it is shown as\n%s", text)
			}
			if strings.Contains(text, "does not come to rest") {
				t.Errorf("it does not settle:\n%s", text)
			}
		})
	}
}

// Its cases come to an end, and what they cut off is not reported.
func TestTicksAreTried(t *testing.T) {
	if testing.Short() {
		t.Skip("it explores all cases")
	}
	Test(t, Subject{Controller: backups(time.Hour, 1_000_000), Samples: []string{"testdata/configmap.yaml"}, Schedules: 10})
}

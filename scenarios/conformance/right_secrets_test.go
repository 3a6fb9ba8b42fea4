package conformance

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/sim/host"
)

var secrets = corev1.SchemeGroupVersion.WithKind("Secret")

const withSecret = `
apiVersion: garden.example.com/v1
kind: Garden
metadata: {name: web}
spec: {size: 1, color: green, secret: token}
---
apiVersion: v1
kind: Secret
metadata: {name: token, namespace: default}
stringData: {token: abc}
`

func secretOf(owner *thing) string { return stringAt(owner, "spec", "secret") }

// needsSecret waits for the Secret that its owner names. The Secret's events wake its owners. With live it reads the
// Secret from the server, and looks again every minute.
func needsSecret(name string, live bool, keep func(a *at, owner, secret *thing) error) host.Controller {
	sync := living(func(a *at, owner *thing) error {
		if secretOf(owner) == "" {
			return nil
		}
		var secret *thing
		if live {
			var err error
			if secret, err = a.live(secrets, owner.GetNamespace(), secretOf(owner)); err != nil {
				return err
			}
		} else {
			secret = a.cachedAt(secrets, "default/"+secretOf(owner))
		}
		if secret == nil {
			if live {
				a.env.Queue.AddAfter(key(owner), time.Minute)
			}
			return a.ready(owner, "False", "SecretMissing")
		}
		if err := keep(a, owner, secret); err != nil {
			return err
		}
		return a.ready(owner, "True", "SecretFound")
	})
	if live {
		return reconciler(name, gardens, sync, parts)
	}
	c := reconciler(name, gardens, sync, parts, secrets)
	c.Routes = append(c.Routes, host.Route{Kind: secrets, Do: func(v host.View, e host.Event, out *host.Effect) {
		v.Each(gardens, "", func(o runtime.Object) bool {
			if secretOf(o.(*thing)) == newest(e).(metav1.Object).GetName() {
				out.Keys = append(out.Keys, key(o))
			}
			return true
		})
	}})
	return c
}

func copiesColor(a *at, owner, _ *thing) error { return adoptsByName(a, owner) }

// twoQueues has two kinds of keys. For a Garden it keeps a ConfigMap. For a Secret it copies the token into the
// ConfigMaps of all Gardens that name the Secret.
func twoQueues() host.Controller {
	const secretKey = "secret:"
	c := reconciler("queues", gardens, living(func(a *at, owner *thing) error {
		next := a.bare(owner, owner.GetName())
		next.SetLabels(map[string]string{"secret": secretOf(owner)})
		return a.upsert(next, func(is *thing) error {
			if err := unstructured.SetNestedField(is.Object, secretOf(owner), "metadata", "labels", "secret"); err != nil {
				return err
			}
			if secretOf(owner) == "" {
				delete(is.Object, "data")
			}
			return a.controls(owner, is)
		})
	}), parts)
	c.Routes = append(c.Routes,
		host.Route{Kind: secrets, Do: func(_ host.View, e host.Event, out *host.Effect) {
			out.Keys = append(out.Keys, secretKey+newest(e).(metav1.Object).GetName())
		}},
		host.Route{Kind: parts, Do: func(_ host.View, e host.Event, out *host.Effect) {
			out.Keys = append(out.Keys, secretKey+newest(e).(metav1.Object).GetLabels()["secret"])
		}})
	first := c.New
	c.New = func(env *host.Env) host.Reconciler {
		perGarden := first(env)
		env.Informer(secrets)
		return host.SyncFunc(func(ctx context.Context, key string) error {
			name, is := strings.CutPrefix(key, secretKey)
			if !is {
				return perGarden.Sync(ctx, key)
			}
			return copySecret(&at{Context: ctx, env: env, of: gardens, kind: parts}, name)
		})
	}
	return c
}

func copySecret(a *at, name string) error {
	secret := a.cachedAt(secrets, "default/"+name)
	if secret == nil {
		return nil
	}
	for _, m := range a.seen(parts) {
		if ref := metav1.GetControllerOf(m); ref == nil || ref.Kind != gardens.Kind || m.GetLabels()["secret"] != name {
			continue
		}
		next := m.DeepCopy()
		next.Object["data"] = map[string]any{"token": stringAt(secret, "data", "token")}
		if alike(m, next) {
			continue
		}
		if err := a.update(next); err != nil {
			return err
		}
	}
	return nil
}

// password returns another password at each call.
func (a *at) password(owner *thing) string {
	c := owner.DeepCopy()
	c.Object["spec"] = map[string]any{"seed": string(owner.GetUID()) + owner.GetResourceVersion() + a.env.Now().String()}
	return hashOf(c)
}

// makesPassword keeps a Secret with a password, which it never changes.
func makesPassword(a *at, owner *thing) error {
	next := a.bare(owner, owner.GetName()+"-password")
	next.Object["stringData"] = map[string]any{"password": a.password(owner)}
	return ignoreAlreadyExists(a.ensure(owner, next))
}

// rotates changes the password each day.
func rotates(a *at, owner *thing) error {
	if err := makesPassword(a, owner); err != nil {
		return err
	}
	d := a.cached(owner.GetName() + "-password")
	if d == nil || d.GetDeletionTimestamp() != nil {
		return nil // its event requeues the key
	}
	made := d.GetCreationTimestamp().Time
	if text := d.GetAnnotations()["garden.example.com/rotated"]; text != "" {
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return err
		}
		made = time.Unix(n, 0)
	}
	if left := made.Add(24 * time.Hour).Sub(a.env.Now()); left > 0 {
		a.env.Queue.AddAfter(key(owner), left)
		return nil
	}
	delete(d.Object, "data")
	d.Object["stringData"] = map[string]any{"password": a.password(owner)}
	d.SetAnnotations(map[string]string{"garden.example.com/rotated": strconv.FormatInt(a.env.Now().Unix(), 10)})
	return a.update(d)
}

// sharesWithSecret makes a Secret a second owner of its ConfigMap, and copies the Secret's data.
func sharesWithSecret(a *at, owner, secret *thing) error {
	ref := metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: secret.GetName(), UID: secret.GetUID()}
	next := a.bare(owner, owner.GetName()+"-config")
	next.Object["data"] = map[string]any{"token": fmt.Sprint(secret.Object["data"])}
	next.SetOwnerReferences(append(next.GetOwnerReferences(), ref))
	return a.upsert(next, func(is *thing) error {
		if !metav1.IsControlledBy(is, owner) {
			return a.controls(owner, is) // an adoption changes only that reference; its event requeues the key
		}
		is.Object["data"] = next.Object["data"]
		return refersAlso(is, ref)
	})
}

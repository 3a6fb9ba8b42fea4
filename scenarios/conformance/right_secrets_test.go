package conformance

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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

// needsSecret waits for the Secret that its owner names. Events of the Secret enqueue its owners.
func needsSecret(name string, keep func(a *at, owner, secret *thing) error) host.Controller {
	sync := living(func(a *at, owner *thing) error {
		if secretOf(owner) == "" {
			return nil
		}
		secret := a.cachedAt(secrets, "default/"+secretOf(owner))
		if secret == nil {
			return a.ready(owner, "False", "SecretMissing")
		}
		if err := keep(a, owner, secret); err != nil {
			return err
		}
		return a.ready(owner, "True", "SecretFound")
	})
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

// password returns a different password at each call.
func (a *at) password(owner *thing) string {
	c := owner.DeepCopy()
	c.Object["spec"] = map[string]any{"seed": string(owner.GetUID()) + owner.GetResourceVersion() + a.env.Now().String()}
	return hashOf(c)
}

// makesPassword creates a Secret with a password, which it never changes.
func makesPassword(a *at, owner *thing) error {
	next := a.bare(owner, owner.GetName()+"-password")
	next.Object["stringData"] = map[string]any{"password": a.password(owner)}
	return ignoreAlreadyExists(a.ensure(owner, next))
}

// sharesWithSecret makes a Secret a second owner of its ConfigMap, and copies the Secret's data.
func sharesWithSecret(a *at, owner, secret *thing) error {
	ref := metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: secret.GetName(), UID: secret.GetUID()}
	next := a.bare(owner, owner.GetName()+"-config")
	next.Object["data"] = map[string]any{"token": fmt.Sprint(secret.Object["data"])}
	next.SetOwnerReferences(append(next.GetOwnerReferences(), ref))
	return a.upsert(next, func(is *thing) error {
		if !metav1.IsControlledBy(is, owner) {
			return a.controls(owner, is) // an adoption changes only the reference; its event requeues the key
		}
		is.Object["data"] = next.Object["data"]
		return refersAlso(is, ref)
	})
}

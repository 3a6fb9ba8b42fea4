// Package acquitted_test holds right operators, written as tutorials write them, and tests each under every fault. A
// violation that one of them causes is a false positive.
package acquitted_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/scenarios/simtest"
	"github.com/threelaws/threelaws/sim/host"
)

// trials lists the twelve operators.
var trials = []struct {
	name string
	c    func() simtest.Case
}{
	{"finalizer", finalizersCase},
	{"create-or-update", upsertsCase},
	{"server-side-apply", appliesCase},
	{"conditions", conditionsCase},
	{"controller-reference", referencesCase},
	{"adoption", adoptionsCase},
	{"mapping", mappingsCase},
	{"requeue", requeuesCase},
	{"two-queues", queuesCase},
	{"namespaces", namespacesCase},
	{"generations", generationsCase},
	{"fixed-name", fixedNamesCase},
}

// Right operators cause no violation under any fault, while a user scales, deletes, relabels and edits.
func TestRightOperators(t *testing.T) {
	for _, x := range trials {
		t.Run(x.name, func(t *testing.T) { simtest.Check(t, tried(x.c())) })
	}
}

// tried adds to a case what all of them share.
func tried(c simtest.Case) simtest.Case {
	c.World = definition + "---\n" + c.World
	c.Faults = map[string]int{}
	for _, f := range host.FaultNames {
		c.Faults[f] = 1
	}
	c.Schedules = 300
	if os.Getenv("SOAK") != "" {
		c.Schedules = 5000
	}
	return c
}

const token = "apiVersion: v1\nkind: Secret\nmetadata: {name: token}\nstringData: {user: alice}\n"

// world returns one App.
func world(name string, replicas int) string {
	return fmt.Sprintf("apiVersion: example.com/v1\nkind: App\nmetadata: {name: %s}\nspec: {replicas: %d, image: v1, "+
		"secret: token}\n", name, replicas)
}

// edit returns a user's edit of an App.
func edit(name string, change func(*App)) simtest.Action {
	return simtest.Do("edit-"+name, func(user host.Client) error {
		obj, err := user.Get(context.Background(), appKind, "default", name)
		if err != nil {
			return ignoreNotFound(err)
		}
		a := appOf(obj)
		change(a)
		_, err = user.Update(context.Background(), a.object())
		return err
	})
}

// again recreates an App under its old name.
func again(name string) simtest.Action {
	return makes(
		(&App{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec: AppSpec{Replicas: 1, Image: "v3", Secret: "token"}}).object())
}

func makes(o runtime.Object) simtest.Action {
	return simtest.Do("make-"+o.(metav1.Object).GetName(), func(user host.Client) error {
		_, err := user.Create(context.Background(), o)
		return err
	})
}

// eachApp runs a check for every App.
func eachApp(user host.Client, ask func(*App) error) error {
	apps, err := user.List(context.Background(), appKind, "default", metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, o := range apps {
		if err := ask(appOf(o)); err != nil {
			return err
		}
	}
	return nil
}

// owned requires that every App controls an object of a kind, and that no such object is left over.
func owned(user host.Client, kind schema.GroupVersionKind) error {
	apps, err := user.List(context.Background(), appKind, "default", metav1.ListOptions{})
	if err != nil {
		return err
	}
	objects, err := user.List(context.Background(), kind, "default", metav1.ListOptions{})
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for _, o := range objects {
		ref := metav1.GetControllerOf(o.(metav1.Object))
		if ref == nil {
			return fmt.Errorf("%s is nobody's", o.(metav1.Object).GetName())
		}
		have[string(ref.UID)] = true
	}
	for _, a := range apps {
		uid := string(a.(metav1.Object).GetUID())
		if !have[uid] {
			return fmt.Errorf("%s has no %s", a.(metav1.Object).GetName(), kind.Kind)
		}
		delete(have, uid)
	}
	if len(have) > 0 {
		return fmt.Errorf("%d owners are gone, and what was theirs is not", len(have))
	}
	return nil
}

// count requires a number of objects.
func count(user host.Client, kind schema.GroupVersionKind, namespace string, n int) error {
	objects, err := user.List(context.Background(), kind, namespace, metav1.ListOptions{})
	if err == nil && len(objects) != n {
		err = fmt.Errorf("there are %d of kind %s in %s, not %d", len(objects), kind.Kind, namespace, n)
	}
	return err
}

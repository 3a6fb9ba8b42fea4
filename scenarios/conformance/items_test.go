package conformance

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

func itemsOf(owner *thing) (all []string) {
	spec, _ := owner.Object["spec"].(map[string]any)
	list, _ := spec["list"].([]any)
	for _, item := range list {
		all = append(all, item.(string))
	}
	return all
}

// servesEach creates a Service for each item of its owner's list. Services of other items are passed to surplus.
func servesEach(surplus func(a *at, owner *thing, all []*thing) error) idiom {
	return func(a *at, owner *thing) error {
		var names []string
		for _, item := range itemsOf(owner) {
			next := a.bare(owner, owner.GetName()+"-"+item)
			next.Object["spec"] = map[string]any{"ports": []any{map[string]any{"port": int64(80)}}}
			if names = append(names, next.GetName()); a.ensure(owner, next) != nil {
				return a.ensure(owner, next)
			}
		}
		return surplus(a, owner, slices.DeleteFunc(a.own(owner), func(o *thing) bool { return slices.Contains(names, o.GetName()) }))
	}
}

// plotsEach creates a plot for each item of its owner's list, with a label for the owner. With prunes, it deletes those of
// other items. The finalizer deletes all plots, or only those of the items. Items with more than one letter are errors.
func plotsEach(prunes, all bool) idiom {
	surplus := func(a *at, owner *thing) ([]*thing, error) {
		list, err := a.list(plots, "", ownerLabel+"="+fullLabel(owner))
		return slices.DeleteFunc(list, func(o *thing) bool {
			return slices.ContainsFunc(itemsOf(owner), func(item string) bool { return fullLabel(owner)+"."+item == o.GetName() })
		}), err
	}
	return finalized(func(a *at, owner *thing) error {
		for _, item := range itemsOf(owner) {
			if len(item) > 1 {
				return fmt.Errorf("the item %s is unknown", item)
			}
			if err := a.plotNamed(owner, fullLabel(owner)+"."+item); err != nil {
				return err
			}
		}
		list, err := surplus(a, owner)
		if err != nil || !prunes {
			return err
		}
		return a.removeAll(list)
	}, func(a *at, owner *thing) error {
		if all {
			return removesLabelled(plots)(a, owner)
		}
		for _, item := range itemsOf(owner) {
			err := a.env.Client.Delete(a, plots, "", fullLabel(owner)+"."+item, metav1.DeleteOptions{})
			if ignoreNotFound(err) != nil {
				return err
			}
		}
		return nil
	})
}

// What exists because of an item of a list must go when the item is removed. It must also go if the owner is deleted
// after that. A controller may keep it if the status says so.
func TestRemovedItems(t *testing.T) {
	forgets := func(*at, *thing, []*thing) error { return nil }
	prunes := func(a *at, _ *thing, all []*thing) error { return a.removeAll(all) }
	reports := func(a *at, owner *thing, all []*thing) error { return a.reports(owner, "surplus", int64(len(all))) }
	for _, x := range []struct {
		name string
		idiom
		kind       schema.GroupVersionKind
		in         string
		law, keeps string
	}{
		{"deleted", living(servesEach(prunes)), services, "removed", "", ""},
		{"kept", living(servesEach(forgets)), services, "removed", "expect", "svc/web-b, which comes from spec.list[1], when that is removed\n"},
		{"kept and reported", living(servesEach(reports)), services, "removed", "", ""},
		{"deleted, without a reference", plotsEach(true, true), plots, "removed", "", ""},
		{"kept, without a reference", plotsEach(false, true), plots, "removed", "expect", "which comes from spec.list[1], when that is removed\n"},
		{"kept after the owner", plotsEach(false, false), plots, "edited-and-deleted", "expect", ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := ofBug(t, []host.Controller{reconciler("items", gardens, x.idiom, x.kind)})
			s.Samples = []string{sampleFile(t, gardenOf("{list: [a, b]}"))}
			plan := prepared(t, s)
			shows(t, plan, x.keeps)
			finds(t, plan, x.in, x.law)
		})
	}
}

// An edit that the user gives is tried, even if the controller then writes nothing but the status of its sample.
func TestGivenEditsAreTried(t *testing.T) {
	s := subjectOf(t, reconciler("reports", gardens, living(func(a *at, owner *thing) error {
		return a.reports(owner, "color", stringAt(owner, "spec", "color"))
	})))
	s.Edits = []string{"{spec: {color: red}}"}
	shows(t, prepared(t, s), "  follows     Edits[0]\n")
}

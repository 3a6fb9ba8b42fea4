package cli

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/sim"
)

// provide adds what the operator lacks, if err says that it did nothing for a sample for that reason. It returns a note
// for each addition. Without a note, the operator gets nothing else.
func (op *operator) provide(err error, sample *check.File) (notes []string) {
	if flag := op.leaveOut(err); flag != "" {
		return []string{"argument " + flag + " is left out: the operator does not know it"}
	}
	if o := op.takeBack(err, sample); o != nil {
		return []string{fmt.Sprintf("%s%s %s is left out again: %s", op.forSample(sample), o.GetKind(),
			path.Join(o.GetNamespace(), o.GetName()), strings.TrimPrefix(err.Error(), sample.Name+": "))}
	}
	if to := op.move(err, sample); to != "" {
		return []string{fmt.Sprintf("%sthe sample is moved to the namespace %s: the operator watches its kind only there", op.forSample(sample), to)}
	}
	added, crds := op.addOwn(err), op.lackedCRDs(saidBy(err))
	op.installCRDs(crds)
	made := op.madeCRDs(saidBy(err))
	op.installCRDs(made)
	other, from := op.addMissing(err, sample)
	if refers := op.referred(sample); other == nil && refers != nil && isIdle(err) {
		op.add(sample, refers.Unstructured)
		op.referrals = append(op.referrals, refers.Unstructured)
		notes = append(notes, fmt.Sprintf("%s%s %s of %s is added: %s names it", op.forSample(sample), refers.GetKind(),
			path.Join(refers.GetNamespace(), refers.GetName()), refers.file, refers.by))
	}
	if dir := op.addCertificate(err); dir != "" {
		notes = append(notes, "a certificate is added in "+dir+": the operator reads it, and nothing that check installs creates it")
	}
	if other != nil {
		named := op.forSample(sample) + other.GetKind() + " " + path.Join(other.GetNamespace(), other.GetName())
		if from == madeUp {
			notes = append(notes, named+" is made up: the operator looks for it, and no file has it; --with FILE gives another one")
		} else {
			notes = append(notes, fmt.Sprintf("%s of %s is added: the operator looks for it", named, from))
		}
	}
	for _, f := range crds {
		notes = append(notes, fmt.Sprintf("CRD %s of %s is added: the operator watches its kind", f.Objects[0].GetName(), f.Name))
	}
	for _, f := range made {
		notes = append(notes, fmt.Sprintf("CRD %s is made up without a schema: the operator watches its kind, and no file defines it; "+
			"--crds FILE gives the real one", f.Objects[0].GetName()))
	}
	for _, o := range added {
		why := "is added: the operator reads its own"
		if o.GetKind() == "Service" {
			why = "is added: the operator reads that of the API server"
		}
		notes = append(notes, fmt.Sprintf("%s %s/%s %s", o.GetKind(), o.GetNamespace(), o.GetName(), why))
	}
	return notes
}

// forSample returns the prefix of a note about one of several samples.
func (op *operator) forSample(sample *check.File) string {
	if len(op.Samples) < 2 {
		return ""
	}
	return sample.Name + ": "
}

// strange matches the error of a program for a flag that it does not have.
var strange = regexp.MustCompile(`flag provided but not defined: -+([\w.-]+)|unknown (?:long )?flag:? '?--([\w.-]+)`)

// leaveOut removes an argument that the operator does not know, according to err: its manifests may be older.
func (op *operator) leaveOut(err error) (argument string) {
	match := strange.FindStringSubmatch(saidBy(err))
	if match == nil || op.LeaveOut == nil {
		return ""
	}
	return op.LeaveOut(match[1] + match[2])
}

// takeBack removes an object that was added to the sample, if the server refuses it according to err. It returns this
// object, or nil. An object of the sample's own file stays, even if it was added to another sample.
func (op *operator) takeBack(err error, sample *check.File) *unstructured.Unstructured {
	o := check.RefusedObject(err)
	i := slices.IndexFunc(sample.Objects, func(of check.Object) bool {
		return o != nil && slices.Contains(op.referrals, of.Unstructured) && same(of.Unstructured, o)
	})
	if i < 0 {
		return nil
	}
	op.refused = append(op.refused, o)
	sample.Objects = slices.Delete(slices.Clone(sample.Objects), i, i+1)
	return o
}

// move moves a sample, with the objects in its namespace, to the only namespace in which the operator watches its kind
// according to err. It returns this namespace. A sample in another namespace than "default" stays there.
func (op *operator) move(err error, sample *check.File) (to string) {
	idle := (*check.Idle)(nil)
	if !errors.As(err, &idle) || idle.Only == "" || !op.namespaced(sample.Objects[0].Unstructured) ||
		cmp.Or(sample.Objects[0].GetNamespace(), "default") != "default" {
		return ""
	}
	for _, o := range sample.Objects {
		if op.namespaced(o.Unstructured) && cmp.Or(o.GetNamespace(), "default") == "default" {
			o.SetNamespace(idle.Only)
		}
	}
	return idle.Only
}

// addOwn installs the operator's own workload, its Pods, or the Service of the API server, if err says that one was not
// found. It returns these objects.
func (op *operator) addOwn(err error) (added []*unstructured.Unstructured) {
	said := saidBy(err)
	if said == "" {
		return nil
	}
	var kinds []string // a second instance looks for a Pod of its own
	own := append(slices.Clone(op.Own), apiService())
	for _, o := range own {
		missing := regexp.MustCompile(fmt.Sprintf(`(?i)\b%[1]ss?(\.apps)? "%[2]s" not found|\bno( \w+){0,2} %[1]ss? found`, o.GetKind(),
			regexp.QuoteMeta(o.GetName())))
		if o.GetKind() == "Service" { // "no service found" is about another one
			missing = regexp.MustCompile(`(?i)\bservices? "kubernetes" not found`)
		}
		if missing.MatchString(said) {
			kinds = append(kinds, o.GetKind())
		}
	}
	for _, o := range own {
		if slices.Contains(kinds, o.GetKind()) && op.find(o.GetKind(), o.GetNamespace(), o.GetName()) == nil {
			added = append(added, o)
		}
	}
	op.Installed = append(op.Installed, added...)
	return added
}

// apiService returns the Service that each API server creates for itself. Some operators take its UID as the cluster's.
func apiService() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": "kubernetes", "namespace": "default"},
		"spec":     map[string]any{"ports": []any{map[string]any{"name": "https", "port": int64(443)}}}}}
}

// lacks reports whether the operator lacks something that provide adds, although it did something: a CRD or an object that
// a file has, or, if it created nothing, something that can be made up.
func (op *operator) lacks(idle *check.Idle, created bool, sample *check.File) bool {
	other, from := op.missing(idle, sample)
	said := saidBy(idle)
	return len(op.lackedCRDs(said)) > 0 || !created && len(op.madeCRDs(said)) > 0 || !created && op.referred(sample) != nil ||
		(!created || from != madeUp) && other != nil && other.GroupVersionKind() != sample.Objects[0].GroupVersionKind()
}

// saidBy returns what an operator that did nothing has printed or put into the status of the sample, or why its webhooks
// refuse an object, without escaped quotes. It returns "" for other errors.
func saidBy(err error) string {
	idle := (*check.Idle)(nil)
	switch {
	case check.RefusedByWebhook(err):
		return strings.ReplaceAll(err.Error(), `\"`, `"`)
	case !errors.As(err, &idle):
		return ""
	}
	said := slices.Concat([]string{idle.Text}, idle.Status, idle.Printed)
	for _, o := range idle.Absent {
		said = append(said, fmt.Sprintf("%s %q not found", o.Kind, path.Join(o.Namespace, o.Name)))
	}
	return strings.ReplaceAll(strings.Join(said, "\n"), `\"`, `"`)
}

// missed matches the error of a request or a cache read for an object that does not exist. worded matches what operators
// write about such an object in their own words.
var (
	missed = regexp.MustCompile(`([A-Za-z]+)(?:\.[a-z0-9.-]+)? "([^"]+)" not found`)
	worded = regexp.MustCompile(`(?i)\bno (secret|configmap|node|namespace) (?:with|of) (?:the )?name ['"]?([a-z0-9./-]*[a-z0-9])['"]? (?:was |is |could be )?found`)
)

const eachNamespace = "each namespace"

// standard returns a file with the objects that kube-controller-manager creates in each namespace.
func standard() *check.File {
	f := &check.File{Name: eachNamespace}
	for kind, name := range map[string]string{"ServiceAccount": "default", "ConfigMap": "kube-root-ca.crt"} {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": kind}}
		o.SetName(name)
		if kind == "ConfigMap" {
			o.Object["data"] = map[string]any{"ca.crt": agent.Authority}
		}
		f.Objects = append(f.Objects, check.Object{Unstructured: o, Line: 1})
	}
	return f
}

// missing returns an object that the operator did not find according to err: an object of another sample file, one that
// each namespace has, or any other one of the repository. from is the name of the file. The object gets the namespace
// where the operator looks for it: the namespace that err names, or that of the sample. If the sample has the object
// already, missing returns nil.
func (op *operator) missing(err error, sample *check.File) (best *unstructured.Unstructured, from string) {
	said := saidBy(err)
	files := slices.Concat(op.Samples, op.Others)
	for _, s := range op.Samples {
		files = append(files, op.Next[s]...)
	}
	files = append(files, standard())
	for _, match := range append(missed.FindAllStringSubmatch(said, -1), worded.FindAllStringSubmatch(said, -1)...) {
		what := strings.ToLower(match[1])       // a kind, or the plural name of a resource
		namespace, name := path.Split(match[2]) // a cache names "namespace/name"
		tried := files
		if op.Named != nil {
			tried = slices.Concat(files, op.Named(what, name, path.Dir(sample.Name)))
		}
		for _, f := range tried {
			for _, o := range f.Objects {
				kind, own := strings.ToLower(o.GetKind()), o.GetNamespace()
				if f == sample || o.Line == 0 || o.GetName() != name || kind != what && kind+"s" != what {
					continue // addMissing has added the objects without a line
				}
				found, exact := o.DeepCopy(), own != "" && strings.Contains(said, own+"/"+name)
				if !exact && op.namespaced(found) {
					found.SetNamespace(cmp.Or(strings.TrimSuffix(namespace, "/"), op.home(sample)))
				}
				if !has(sample, found) && !wasCreated(err, found) && !op.isOwn(found) && (best == nil || exact) {
					best, from = found, f.Name
				}
			}
		}
		if o := made(sample, what, name, op.home(sample)); best == nil && o != nil && !has(sample, o) {
			best, from = o, madeUp
		}
		if best != nil {
			break
		}
	}
	if best == nil {
		if best = cmp.Or(op.unnamed(said, sample), ofCluster(err, sample)); best != nil {
			from = madeUp
		}
	}
	return best, from
}

// wasCreated reports whether an object was created in the world of err, an [check.Idle].
func wasCreated(err error, o *unstructured.Unstructured) bool {
	idle := (*check.Idle)(nil)
	return errors.As(err, &idle) &&
		slices.Contains(idle.Created, sim.Ref{Kind: o.GetKind(), Namespace: o.GetNamespace(), Name: o.GetName()})
}

// isOwn reports whether an object has the kind and the name of the operator's workload or of one of its Pods. A patch of the
// workload may be in another file.
func (op *operator) isOwn(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(op.Own, func(own *unstructured.Unstructured) bool {
		return own.GetKind() == o.GetKind() && own.GetName() == o.GetName()
	})
}

func has(f *check.File, o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(f.Objects, func(has check.Object) bool { return same(has.Unstructured, o) })
}

// same reports whether two objects have the same kind, namespace and name.
func same(a, b *unstructured.Unstructured) bool {
	return a.GroupVersionKind() == b.GroupVersionKind() && a.GetName() == b.GetName() && a.GetNamespace() == b.GetNamespace()
}

// home returns the namespace in which the operator looks for objects of a sample: that of the sample, or the operator's own
// if the sample has none.
func (op *operator) home(sample *check.File) string {
	if first := sample.Objects[0].Unstructured; !op.namespaced(first) && len(op.Own) > 0 {
		return cmp.Or(op.Own[0].GetNamespace(), "default")
	}
	return cmp.Or(sample.Objects[0].GetNamespace(), "default")
}

var ownKinds = sync.OnceValue(func() *fakeapi.Server { return fakeapi.New(fakeapi.Options{}) })

// namespaced reports whether an object has a namespace, according to its CRD or its built-in kind.
func (op *operator) namespaced(o *unstructured.Unstructured) bool {
	if k := ownKinds().Kind(o.GroupVersionKind()); k != nil {
		return k.Namespaced
	}
	for _, f := range op.CRDs {
		for _, crd := range f.Objects {
			group, kind := defined(crd)
			if scope, _, _ := unstructured.NestedString(crd.Object, "spec", "scope"); kind == o.GetKind() &&
				group == o.GroupVersionKind().Group {
				return scope == "Namespaced"
			}
		}
	}
	return false
}

// isIdle reports whether err says that the operator did nothing, or too little.
func isIdle(err error) bool {
	is := (*check.Idle)(nil)
	return errors.As(err, &is)
}

// addMissing adds an object of another sample to a sample, if err says that the operator did not find the object. It adds
// no object of the sample's kind, because that would be a second sample.
func (op *operator) addMissing(err error, sample *check.File) (added *unstructured.Unstructured, from string) {
	added, from = op.missing(err, sample)
	if added == nil || added.GroupVersionKind() == sample.Objects[0].GroupVersionKind() {
		return nil, ""
	}
	op.add(sample, added)
	return added, from
}

// add adds an object and its namespace to a sample.
func (op *operator) add(sample *check.File, added *unstructured.Unstructured) {
	sample.Objects = slices.Clone(sample.Objects)
	if name := added.GetNamespace(); name != "" && name != cmp.Or(sample.Objects[0].GetNamespace(), "default") {
		space := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace"}}
		space.SetName(name)
		if !has(sample, space) {
			sample.Objects = append(sample.Objects, check.Object{Unstructured: space})
		}
	}
	sample.Objects = append(sample.Objects, check.Object{Unstructured: added})
}

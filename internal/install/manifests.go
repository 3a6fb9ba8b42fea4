package install

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/openapi"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// manifests contains the objects of one way to install the operator.
type manifests struct {
	from      string // as in [Repository.From]
	namespace string // the namespace for objects that name none; "" if unknown
	objects   []Object
	notes     []string // for the user, such as which documents were left out
}

// findInstall reads the install manifests. It uses the first of these that exists: the path in the options, what the
// Makefile deploys or config/default, another kustomization, a chart, plain YAML. If config/default cannot be rendered, a
// more complete chart or more complete plain YAML is used instead of another kustomization. If config/default or a chart
// cannot be rendered and no other manifests have the workload, it returns the error of the first one.
func (f *finder) findInstall(context.Context) error {
	var broken error     // why a conventional kustomization is left out
	var left string      // which one
	var spare *manifests // a conventional kustomization without a workload
	switch {
	case f.opts.Install == "none":
		f.note("no install manifests, as --install none says")
		return nil
	case f.opts.Install != "":
		return f.givenInstall()
	}
	for _, dir := range f.deployed() {
		objects, err := f.kustomize(f.abs(dir))
		switch {
		case err != nil:
			f.noteBroken(broken, left)
			broken, left = err, dir
		case slices.ContainsFunc(objects, isWorkload):
			f.noteBroken(broken, left)
			f.install(manifests{from: dir, objects: objects}, "kustomize")
			f.mayInstall(f.chartDirs())
			return nil
		default:
			spare = &manifests{from: dir, objects: objects}
		}
	}
	if found := f.kustomizations(); len(found) > 0 {
		f.noteBroken(broken, left)
		by, others := "kustomize", []manifests(nil)
		if broken != nil { // a part of config/default is often less than a chart or a released YAML file
			charts, _ := f.charts()
			for _, more := range []struct {
				found []manifests
				by    string
			}{{charts, "helm"}, {f.folders(), "YAML"}} {
				if len(more.found) > 0 && more.found[0].completeness() > found[0].completeness() {
					by, found, others = more.by, more.found, append(found, others...)
				} else {
					others = append(others, more.found...)
				}
			}
		}
		f.install(found[0], by)
		f.others(append(found, others...))
		return nil
	}
	charts, err := f.charts()
	if len(charts) > 0 {
		f.noteBroken(broken, left)
		if err != nil {
			f.note("%v: left out", err)
		}
		f.install(charts[0], "helm")
		f.others(charts)
		return nil
	}
	if broken == nil {
		broken, left = err, "the chart"
	}
	if found := f.folders(); len(found) > 0 {
		f.noteBroken(broken, left)
		f.install(found[0], "YAML")
		f.others(found)
		return nil
	}
	if broken != nil {
		return fmt.Errorf("%w (name other install manifests with --install PATH, or --install none)", broken)
	}
	if spare != nil {
		f.install(*spare, "kustomize")
	}
	f.note("no install manifests have the operator's workload: it runs without arguments and environment; name them " +
		"with --install PATH")
	return nil
}

// deployed returns the kustomizations that install the operator by convention: the one that "make deploy" applies, and
// config/default.
func (f *finder) deployed() []string {
	dirs := []string{f.makefile().deploy, "config/default"}
	return slices.Compact(slices.DeleteFunc(dirs, func(dir string) bool {
		return dir == "" || !filepath.IsLocal(dir) || kustomization(f.abs(dir)) == ""
	}))
}

// noteBroken adds a note with the reason why a kustomization is not installed. It does nothing if err is nil. If the search
// for other kustomizations has already noted this reason, it replaces that note.
func (f *finder) noteBroken(err error, dir string) {
	if err == nil {
		return
	}
	f.Notes = slices.DeleteFunc(f.Notes, func(note string) bool { return note == err.Error()+": left out" })
	f.note("%v: %s is left out", err, dir)
}

func (f *finder) others(found []manifests) {
	var paths []string
	for _, m := range found[1:] {
		paths = append(paths, m.from)
	}
	f.mayInstall(paths)
}

func (f *finder) mayInstall(paths []string) {
	if len(paths) > 0 {
		f.note("--install may name other manifests with the workload: %s", strings.Join(paths, ", "))
	}
}

func (f *finder) givenInstall() error {
	at, err := f.given(f.opts.Install)
	if err != nil {
		if remote(f.opts.Install) {
			return fmt.Errorf("--install %s: it is remote: nothing is fetched: download it first", f.opts.Install)
		}
		return fmt.Errorf("--install %s: %s", f.opts.Install, cause(err))
	}
	if dir := filepath.Dir(at); kustomization(dir) == at {
		at = dir
	}
	switch _, noChart := os.Stat(filepath.Join(at, "Chart.yaml")); {
	case kustomization(at) != "":
		objects, err := f.kustomize(at)
		if err != nil {
			return err
		}
		f.install(manifests{from: f.rel(at), objects: objects}, "kustomize")
	case noChart == nil:
		m, err := f.helm(at)
		if err != nil {
			return err
		}
		f.install(m, "helm")
	default:
		objects, err := f.readGiven("--install", f.opts.Install)
		if err != nil {
			return err
		}
		f.install(manifests{from: f.rel(at), objects: objects}, "YAML")
	}
	return nil
}

func (f *finder) install(m manifests, by string) {
	type key struct{ group, kind, namespace, name string }
	seen := map[key]Object{}
	counts := map[string]int{}
	for _, o := range m.objects {
		gvk := o.GroupVersionKind()
		if strings.HasSuffix(gvk.Group, "kustomize.config.k8s.io") || o.GetName() == "" {
			continue
		}
		k := key{gvk.Group, gvk.Kind, o.GetNamespace(), o.GetName()}
		if first, ok := seen[k]; ok {
			f.note("%s: %s %s is in %s as well: left out", o.place(), k.kind, k.name, first.File)
			continue
		}
		seen[k] = o
		if isCRD(o) {
			f.addCRD(o)
			continue
		}
		counts[k.kind]++
		f.Objects = append(f.Objects, o)
	}
	var kinds []string
	if len(f.CRDs) > 0 {
		kinds = append(kinds, fmt.Sprintf("%d CustomResourceDefinition", len(f.CRDs)))
	}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	for _, note := range m.notes {
		f.note("%s", note)
	}
	f.From, f.namespace = m.from, m.namespace
	f.note("installed from %s (%s): %s", m.from, by, strings.Join(kinds, ", "))
}

// aside reports whether a path is in a directory of examples, documentation, tests or development tools.
func aside(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool {
		return slices.Contains([]string{"sample", "samples", "example", "examples", "doc", "docs", "design", "test", "tests", "e2e",
			"hack", "demo", "demos", "ci", "dev"}, part)
	})
}

// kustomizations renders the kustomizations that contain the operator's workload. The most complete one comes first.
func (f *finder) kustomizations() []manifests {
	var found []manifests
	for _, file := range f.files {
		dir := path.Dir(file)
		if aside(dir) || kustomization(f.abs(dir)) != f.abs(file) {
			continue
		}
		before := len(f.Notes)
		files, err := f.checkLocal(f.abs(dir), map[string]bool{})
		if !slices.ContainsFunc(files, func(file string) bool {
			return slices.ContainsFunc(f.documents(file), document.isWorkload)
		}) {
			f.Notes = f.Notes[:before]
			continue
		}
		var objects []Object
		if err == nil {
			objects, err = f.kustomize(f.abs(dir))
		}
		if err != nil {
			f.note("%v: left out", err)
			continue
		}
		found = append(found, manifests{from: dir, objects: objects, notes: slices.Clone(f.Notes[before:])})
		f.Notes = f.Notes[:before]
	}
	return f.complete(found)
}

// complete returns the manifests with the workloads that fit the operator best or nearly best (see score). The most
// complete manifests come first. If two are equally complete, the one with fewer objects comes first, because the
// operator does not need the additional objects.
func (f *finder) complete(all []manifests) []manifests {
	scores, best := map[string]int{}, 1
	for _, m := range all {
		if p, err := f.pick(m.objects); err == nil && p != nil {
			scores[m.from] = p.score
			best = max(best, p.score)
		}
	}
	all = slices.DeleteFunc(all, func(m manifests) bool { return scores[m.from] <= max(0, best-3) })
	slices.SortStableFunc(all, func(a, b manifests) int {
		return cmp.Or(b.completeness()-a.completeness(), len(a.objects)-len(b.objects))
	})
	return all
}

func (m manifests) completeness() int {
	parts := map[string]bool{}
	for _, o := range m.objects {
		switch o.GetKind() {
		case "CustomResourceDefinition", "ServiceAccount", "ClusterRoleBinding", "Namespace":
			parts[o.GetKind()] = true
		}
	}
	return len(parts)
}

// folders returns files and directories of plain YAML that contain the operator's workload. The most complete is first.
func (f *finder) folders() []manifests {
	var found []manifests
	seen := map[string]bool{}
	for _, file := range f.files {
		dir := path.Dir(file)
		if aside(dir) || f.inChart(dir) {
			continue
		}
		if !slices.ContainsFunc(f.documents(file), document.isWorkload) {
			continue
		}
		alone := f.search([]string{file}, document.any)
		found = append(found, manifests{from: file, objects: alone})
		if dir == "." || seen[dir] {
			continue
		}
		seen[dir] = true
		dirs := []string{dir}
		if path.Base(dir) == "manager" {
			dirs = append(dirs, path.Join(dir, "../rbac"), path.Join(dir, "../webhook"))
		}
		files := slices.DeleteFunc(slices.Clone(f.files), func(file string) bool {
			return !slices.Contains(dirs, path.Dir(file))
		})
		if all := f.search(files, document.any); len(all) > len(alone) {
			found = append(found, manifests{from: dir, objects: all})
		}
	}
	return f.complete(found)
}

func (f *finder) inChart(dir string) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if slices.Contains(f.files, dir+"/Chart.yaml") {
			return true
		}
	}
	return false
}

func (document) any() bool { return true }

func (d document) isWorkload() bool { return slices.Contains(workloadKinds, d.kind) }

// place sets the namespace of objects without one, adds Namespace objects that are missing, and sorts the objects.
func (f *finder) place(context.Context) error {
	all := f.Objects
	if f.picked != nil {
		all = append(slices.Clone(all), f.picked.Object)
	}
	if f.namespace == "" {
		f.namespace = f.boundNamespace(all)
	}
	have := map[string]bool{"": true, "default": true, "kube-system": true, "kube-public": true, "kube-node-lease": true}
	for _, o := range all {
		if o.GetKind() == "Namespace" && o.GetAPIVersion() == "v1" {
			have[o.GetName()] = true
		}
		if o.GetNamespace() == "" && f.namespaced(o) {
			o.SetNamespace(cmp.Or(f.namespace, "default"))
		}
	}
	for _, o := range all {
		if name := o.GetNamespace(); !have[name] {
			have[name] = true
			ns := &unstructured.Unstructured{}
			ns.SetAPIVersion("v1")
			ns.SetKind("Namespace")
			ns.SetName(name)
			f.Objects = append(f.Objects, Object{Unstructured: ns})
			f.note("namespace %s is added: the manifests expect it, and none of them creates it", name)
		}
	}
	slices.SortStableFunc(f.Objects, func(a, b Object) int { return rank(a) - rank(b) })
	return nil
}

// boundNamespace returns the namespace of the operator's service account according to a role binding. In another
// namespace, the account would have no permissions. It returns "" if the workload has a namespace, or if there is no
// such binding.
func (f *finder) boundNamespace(all []Object) string {
	if f.picked == nil || f.picked.GetNamespace() != "" {
		return ""
	}
	account := serviceAccount(f.picked.pod)
	for _, o := range all {
		if o.GetKind() != "ClusterRoleBinding" && o.GetKind() != "RoleBinding" {
			continue
		}
		subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects")
		for _, s := range subjects {
			s, _ := s.(map[string]any)
			if namespace, _ := s["namespace"].(string); s["kind"] == "ServiceAccount" && s["name"] == account &&
				namespace != "" {
				f.note("namespace %s for manifests that name none, since %s %s expects the service account there",
					namespace, o.GetKind(), o.GetName())
				return namespace
			}
		}
	}
	return ""
}

// namespaced reports whether a kind is known to be namespaced.
func (f *finder) namespaced(o Object) bool {
	if scope, custom := f.scope(o); custom {
		return scope == "Namespaced"
	}
	is, known := openapi.IsNamespaceScoped(yaml.TypeMeta{APIVersion: o.GetAPIVersion(), Kind: o.GetKind()})
	return known && is
}

// rank is the sort key of an object. An object comes after the objects that it needs. Webhooks come last, because they
// work only after the operator has started.
func rank(o Object) int {
	group := o.GroupVersionKind().Group
	switch kind := o.GetKind(); {
	case kind == "Namespace":
		return 0
	case slices.Contains([]string{"PriorityClass", "StorageClass", "IngressClass", "RuntimeClass", "ResourceQuota",
		"LimitRange"}, kind):
		return 1
	case kind == "ServiceAccount":
		return 2
	case group == "rbac.authorization.k8s.io", group == "" && kind != "Pod":
		return 3
	case group == "admissionregistration.k8s.io":
		return 7
	case group == "apiregistration.k8s.io":
		return 6
	case strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io"):
		return 5
	default:
		return 4
	}
}

package install

import (
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/threelaws/threelaws/internal/nearest"
)

func (f *finder) findSamples(context.Context) error {
	if len(f.opts.Samples) == 0 {
		f.searchSamples()
		return nil
	}
	if err := f.givenSamples(); err != nil || f.opts.Test {
		return err
	}
	given, notes := f.Samples, f.Notes
	f.Samples = nil
	f.searchSamples()
	f.OtherSamples = slices.DeleteFunc(f.Samples, func(s Sample) bool {
		return slices.ContainsFunc(given, func(g Sample) bool { return g.File == s.File })
	})
	f.Samples, f.Notes = given, notes
	return nil
}

// sampleFiles returns those of the files that may contain samples.
func sampleFiles(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return likelihood(file) == unfit })
}

func (f *finder) named(kind, name, near string) []Object {
	found := slices.DeleteFunc(f.search(sampleFiles(f.files), func(d document) bool {
		is := strings.ToLower(d.kind)
		return is == kind || is+"s" == kind
	}), func(o Object) bool { return o.GetName() != name })
	rank := func(o Object) int {
		if path.Dir(o.File) == near {
			return -1
		}
		return likelihood(o.File)
	}
	slices.SortStableFunc(found, func(a, b Object) int { return rank(a) - rank(b) })
	for _, o := range found {
		f.fixSecret(o)
	}
	return found
}

// searchSamples looks for samples in manifests. If there are none, it looks in the code blocks of Markdown pages.
func (f *finder) searchSamples() {
	files := sampleFiles(f.files)
	without := f.samplesIn(files)
	if len(f.Samples) == 0 {
		without = f.samplesIn(sampleFiles(f.pages))
	}
	reconciled := f.reconciled()
	slices.SortStableFunc(f.Samples, func(a, b Sample) int {
		return reconciled[b.GetKind()] - reconciled[a.GetKind()]
	})
	for _, s := range f.Samples {
		f.note("sample of %s.%s: %s", s.GetKind(), s.GroupVersionKind().Group, s.place())
	}
	if len(without) > 0 {
		f.unserved(files)
		f.note("no sample of %s", strings.Join(without, ", "))
	}
}

// samplesIn adds the best sample of each kind in the files. It returns the kinds that have none.
func (f *finder) samplesIn(files []string) (without []string) {
	for _, crd := range f.CRDs {
		if f.foreign[crd.GetName()] {
			continue // another module's operator reconciles it
		}
		group, kind, _ := crdKindOf(crd)
		versions := served(crd)
		var found []Object
		for _, o := range f.search(files, func(d document) bool {
			gv, err := schema.ParseGroupVersion(d.apiVersion)
			return err == nil && d.kind == kind && gv.Group == group && slices.Contains(versions, gv.Version)
		}) {
			fixName(o)
			if _, patch := f.kustomized(o.File); o.GetName() != "" && !f.installs(o) && !patch {
				found = append(found, o)
			}
		}
		if len(found) == 0 {
			without = append(without, kind+"."+group)
			continue
		}
		if fit := slices.DeleteFunc(slices.Clone(found), func(o Object) bool { return !named(o) || !fits(schemaOf(crd, o), o.Object) }); len(fit) > 0 {
			found = fit
		}
		slices.SortStableFunc(found, func(a, b Object) int { return f.compare(a, b, versions) })
		best := f.sample(found[0], f.search([]string{found[0].File}, document.any))
		for _, o := range found[1:min(len(found), mostSamples)] {
			best.Next = append(best.Next, f.sample(o, f.search([]string{o.File}, document.any)))
		}
		f.Samples = append(f.Samples, best)
	}
	return without
}

var reconciles = regexp.MustCompile(`\bFor\(\s*&(?:\w+\.)?(\w+)\{`)

// reconciled returns a number for each kind for which some source file builds a controller with controller-runtime: 2 if
// the file says that this controller, or another one in it, owns objects, otherwise 1.
func (f *finder) reconciled() map[string]int {
	kinds := map[string]int{}
	for _, file := range f.sources {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the build will report it
		}
		weight := 1
		if bytes.Contains(text, []byte("Owns(")) {
			weight = 2
		}
		for _, m := range reconciles.FindAllSubmatch(text, -1) {
			kinds[string(m[1])] = max(weight, kinds[string(m[1])])
		}
	}
	return kinds
}

// unserved notes objects that cannot be samples: a CRD has their group, but not their kind or version.
func (f *finder) unserved(files []string) {
	var groups, kinds []string
	for _, crd := range f.CRDs {
		group, kind, _ := crdKindOf(crd)
		groups = append(groups, group)
		for _, version := range served(crd) {
			kinds = append(kinds, group+"/"+version+" "+kind)
		}
	}
	for _, o := range f.search(files, func(d document) bool {
		group, _, _ := strings.Cut(d.apiVersion, "/")
		return slices.Contains(groups, group) && !slices.Contains(kinds, d.apiVersion+" "+d.kind)
	}) {
		kind := o.GetAPIVersion() + " " + o.GetKind()
		text := "no CRD serves " + kind
		if near := nearest.Word(kind, kinds); near != "" {
			text += "; did you mean " + near + "?"
		}
		f.note("%s: %s", o.place(), text)
	}
}

func (f *finder) givenSamples() error {
	for _, name := range f.opts.Samples {
		objects, err := f.readGiven("--sample", name)
		if err != nil {
			return err
		}
		var files []string
		for _, o := range objects {
			if !slices.Contains(files, o.File) {
				files = append(files, o.File)
			}
		}
		for _, file := range files {
			var custom, all []Object
			for _, o := range objects {
				if o.File != file {
					continue
				}
				if all = append(all, o); f.custom(o) {
					custom = append(custom, o)
				}
			}
			builtin := len(all) - len(custom)
			if len(custom) == 0 {
				custom, builtin = all[:1], 0
			}
			for _, o := range custom {
				if fixName(o); o.GetName() == "" {
					return fmt.Errorf("%s: the %s has no metadata.name", o.place(), o.GetKind())
				}
				f.Samples = append(f.Samples, f.sample(o, all))
				f.note("sample of %s: %s", o.GetKind(), o.place())
			}
			if builtin > 0 {
				f.note("%s: its custom objects are the samples. To try a built-in one, name a file that holds it alone, "+
					"and the others by --with", file)
			}
		}
	}
	return nil
}

// mostSamples is the maximal number of samples of a kind. Only the first one is tried, unless a server refuses it.
const mostSamples = 8

// sample returns a sample. The other objects of its file, or of its code block in a page, and the built-in objects of its kustomization, exist beside it.
// Several samples of a kustomization may each bring the same object, such as a Secret.
func (f *finder) sample(o Object, file []Object) Sample {
	files, _ := f.kustomized(o.File)
	beside, own := []Object(nil), slices.DeleteFunc(others(file, o), func(other Object) bool { return f.block(other) != f.block(o) })
	for _, other := range f.search(files, document.any) {
		if !isCRD(other) && !f.custom(other) && !slices.ContainsFunc(slices.Concat(beside, own), other.same) {
			beside = append(beside, other)
		}
	}
	beside = append(beside, own...)
	for _, other := range beside {
		fixName(other)
		f.fixSecret(other)
	}
	return Sample{Object: o, Beside: beside}
}

// block returns the number of the code block of a page in which an object is. For other files it returns 0.
func (f *finder) block(o Object) int {
	if !isPage(o.File) {
		return 0
	}
	page, err := os.ReadFile(f.abs(o.File))
	if err != nil {
		return 0
	}
	_, blocks := manifestsIn(page)
	i, _ := slices.BinarySearch(blocks, o.Line)
	return i
}

// fixSecret encodes the values of a Secret that are no base64, such as <token>. Then a server accepts the Secret.
func (f *finder) fixSecret(o Object) {
	if o.GetKind() != "Secret" || o.GetAPIVersion() != "v1" {
		return
	}
	data, _, _ := unstructured.NestedStringMap(o.Object, "data")
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if _, err := base64.StdEncoding.DecodeString(data[key]); err != nil {
			_ = unstructured.SetNestedField(o.Object, base64.StdEncoding.EncodeToString([]byte(data[key])), "data", key) // data is a map
			f.note("%s: data.%s of Secret %s is no base64, so it is encoded", o.place(), key, o.GetName())
		}
	}
}

// fixName names an object that has only a generateName. All schedules need the same name.
func fixName(o Object) {
	if o.GetName() == "" && o.GetGenerateName() != "" {
		o.SetName(o.GetGenerateName() + "sample")
		o.SetGenerateName("")
	}
}

func (f *finder) custom(o Object) bool {
	_, is := f.scope(o)
	return is
}

// installs reports whether the install contains an object, or another one with its name: repositories keep variants of it.
func (f *finder) installs(o Object) bool {
	return slices.ContainsFunc(f.Objects, func(have Object) bool {
		return have.same(o) || have.GroupVersionKind() == o.GroupVersionKind() && have.File == o.File && have.Line == o.Line
	})
}

// same reports whether two objects have the same kind, namespace and name. Their versions may differ.
func (o Object) same(other Object) bool {
	return o.GroupVersionKind().GroupKind() == other.GroupVersionKind().GroupKind() && o.GetName() == other.GetName() &&
		cmp.Or(o.GetNamespace(), "default") == cmp.Or(other.GetNamespace(), "default")
}

// served returns the served versions of a CRD, with the stored version first.
func served(crd Object) []string {
	var all []string
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		v, _ := v.(map[string]any)
		name, _ := v["name"].(string)
		switch {
		case v["served"] != true:
		case v["storage"] == true:
			all = append([]string{name}, all...)
		default:
			all = append(all, name)
		}
	}
	return all
}

// kustomized reads the kustomization in a file's directory. If the kustomization lists the file as a resource, others
// contains the other files in this list. patch reports whether the kustomization lists the file as a patch.
func (f *finder) kustomized(file string) (others []string, patch bool) {
	dir, base := path.Split(file)
	text, err := os.ReadFile(kustomization(filepath.Join(f.Dir, dir)))
	var k types.Kustomization
	if err != nil || k.Unmarshal(text) != nil {
		return nil, false
	}
	for _, p := range k.Patches {
		patch = patch || path.Clean(p.Path) == base
	}
	for _, p := range k.PatchesStrategicMerge {
		patch = patch || path.Clean(string(p)) == base
	}
	if !slices.ContainsFunc(k.Resources, func(r string) bool { return path.Clean(r) == base }) {
		return nil, patch
	}
	for _, r := range k.Resources {
		if at := path.Join(dir, r); at != file && slices.Contains(f.files, at) {
			others = append(others, at)
		}
	}
	return others, patch
}

func schemaOf(crd, of Object) map[string]any {
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, v := range versions {
		if v, _ := v.(map[string]any); v["name"] == of.GroupVersionKind().Version {
			schema, _, _ := unstructured.NestedMap(v, "schema", "openAPIV3Schema")
			return schema
		}
	}
	return nil
}

// named reports whether a server would accept the name of an object. Samples with placeholders have names such as NAME.
func named(o Object) bool { return len(validation.IsDNS1123Subdomain(o.GetName())) == 0 }

// unfit is the rank of files that are not searched for samples.
const unfit = 5

// likelihood ranks a file by its path. A file with a low rank is more likely to contain samples.
func likelihood(file string) int {
	parts := strings.Split(path.Dir(file), "/")
	has := func(names ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(names, part) })
	}
	tests := slices.ContainsFunc(parts, func(part string) bool {
		return slices.ContainsFunc(words(part), func(word string) bool {
			return slices.Contains([]string{"test", "tests", "e2e"}, word)
		})
	})
	switch {
	case tests || has("templates", "crd", "crds"):
		return unfit
	case strings.HasPrefix(file, "config/samples/"):
		return 0
	case has("sample", "samples"):
		return 1
	case has("example", "examples"):
		return 2
	case has("doc", "docs"):
		return 3
	default:
		return 4
	}
}

// compare compares two samples of a kind. The better one comes first. A sample of another version than the stored one is
// worse, because it must be converted. A sample without a spec is worse, because kubebuilder generates
// such samples. A sample whose file has a long name is worse, because it is often a variant. A sample for OpenShift is
// worse, because it may need kinds that Kubernetes does not have.
func (f *finder) compare(a, b Object, versions []string) int {
	empty := func(o Object) int {
		if spec, ok := o.Object["spec"].(map[string]any); ok && len(spec) == 0 || !ok && o.Object["spec"] == nil {
			return 1
		}
		return 0
	}
	named := func(o Object) int {
		for _, word := range words(path.Base(o.File)) {
			if slices.Contains([]string{"sample", "example", "simple", "basic", "minimal", "quickstart", "hello"}, word) {
				return 0
			}
		}
		return 1
	}
	openshift := func(o Object) int {
		if slices.ContainsFunc(strings.Split(o.File, "/"), func(part string) bool { return slices.Contains(words(part), "openshift") }) {
			return 1
		}
		return 0
	}
	size := func(o Object) int {
		for _, d := range f.documents(o.File) {
			if d.line == o.Line {
				return len(d.text)
			}
		}
		return 0
	}
	stored := func(o Object) int { return min(slices.Index(versions, o.GroupVersionKind().Version), 1) }
	return cmp.Or(stored(a)-stored(b), empty(a)-empty(b), likelihood(a.File)-likelihood(b.File), openshift(a)-openshift(b),
		named(a)-named(b),
		strings.Count(a.File, "/")-strings.Count(b.File, "/"), len(words(path.Base(a.File)))-len(words(path.Base(b.File))),
		len(f.documents(a.File))-len(f.documents(b.File)),
		slices.Index(versions, a.GroupVersionKind().Version)-slices.Index(versions, b.GroupVersionKind().Version),
		size(a)-size(b), strings.Compare(a.File, b.File), a.Line-b.Line)
}

func others(file []Object, sample Object) (beside []Object) {
	for _, o := range file {
		if o.GroupVersionKind() != sample.GroupVersionKind() {
			beside = append(beside, o)
		}
	}
	return beside
}

package fakeapi

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
)

func things(t testing.TB, versions string) *crd.Definition {
	t.Helper()
	d := &crd.Definition{}
	parse(t, `{metadata: {name: things.example.com}, spec: {group: example.com,
  scope: Namespaced, names: {plural: things, singular: thing, kind: Thing, listKind: Everything},
  versions: `+versions+`}}`, d)
	return d
}

// one returns the list of versions for a CRD with one version. The spec of its objects has the properties.
func one(properties string) string {
	return `[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type:
    object, properties: ` + properties + `}}}}}]`
}

func thingKind(s *Server, version string) *Kind {
	return s.Kind(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Thing"})
}

func define(t testing.TB, s *Server, d *crd.Definition) {
	t.Helper()
	if old := s.Lookup(definitionKind, "", d.Name); old != nil {
		d.ResourceVersion = old.(*crd.Definition).ResourceVersion
		must(t, s, &Request{Verb: Update, Kind: definitionKind, Name: d.Name, Object: d})
		return
	}
	must(t, s, &Request{Verb: Create, Kind: definitionKind, Object: d})
}

func thing(t testing.TB, version, name, more string) *Request {
	return &Request{Verb: Create, Namespace: "default", Object: parsed(t, "{apiVersion: example.com/"+version+
		", kind: Thing, metadata: {name: "+name+"}, "+more+"}")}
}

func specOf(t testing.TB, s *Server, version, name string) string {
	t.Helper()
	obj := must(t, s, &Request{Verb: Get, Kind: thingKind(s, version), Namespace: "default", Name: name}).Object
	raw, err := json.Marshal(at(obj, ".spec"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A change of the schema does not change stored objects. Defaults and pruning apply when they are read.
func TestSchemaChangesRewriteNothing(t *testing.T) {
	s := New(Options{})
	const a, c = "a: {type: integer}", "c: {type: string, default: %}"
	define(t, s, things(t, one("{"+a+"}")))
	must(t, s, thing(t, "v1", "x", "spec: {a: 1}").of(thingKind(s, "v1")))
	for _, step := range []struct{ properties, want string }{
		{"{" + a + ", " + strings.Replace(c, "%", "C", 1) + "}", `{"a":1,"c":"C"}`},
		{"{" + a + ", " + strings.Replace(c, "%", "D", 1) + "}", `{"a":1,"c":"D"}`},
		{"{" + a + ", c: {type: string}}", `{"a":1}`},
		{"{c: {type: string}}", `{}`},
		{"{" + a + "}", `{"a":1}`},
	} {
		define(t, s, things(t, one(step.properties)))
		if got := specOf(t, s, "v1", "x"); got != step.want {
			t.Errorf("%s: read %s, want %s", step.properties, got, step.want)
		}
	}
	// A write also stores the defaults that were added when the object was read.
	define(t, s, things(t, one("{"+a+", c: {type: string, default: C}}")))
	must(t, s, &Request{Verb: Patch, PatchType: types.MergePatchType, Kind: thingKind(s, "v1"), Namespace: "default",
		Name: "x", Patch: []byte(`{}`)})
	define(t, s, things(t, one("{"+a+", c: {type: string}}")))
	if got := specOf(t, s, "v1", "x"); got != `{"a":1,"c":"C"}` {
		t.Errorf("after a write: %s", got)
	}
}

// A version shows the fields that were written in it, even if the storage version does not have them.
func TestVersionShowsWhatWasWrittenInIt(t *testing.T) {
	s := New(Options{})
	versions := func(storage string) string {
		of := func(name, field string) string {
			stored := "false"
			if name == storage {
				stored = "true"
			}
			return `{name: ` + name + `, served: true, storage: ` + stored + `, schema: {openAPIV3Schema: {type: object,
  properties: {spec: {type: object, properties: {` + field + `: {type: integer}}}}}}}`
		}
		return "[" + of("v1", "a") + ", " + of("v2", "b") + "]"
	}
	define(t, s, things(t, versions("v1")))
	must(t, s, thing(t, "v1", "x", "spec: {a: 1}").of(thingKind(s, "v1")))
	define(t, s, things(t, versions("v2")))
	if v1, v2 := specOf(t, s, "v1", "x"), specOf(t, s, "v2", "x"); v1 != `{"a":1}` || v2 != `{}` {
		t.Errorf("v1 %s, v2 %s", v1, v2)
	}
	list := must(t, s, &Request{Verb: List, Kind: thingKind(s, "v1"), Namespace: "default"})
	if len(list.Items) != 1 || at(list.Items[0], ".spec.a") != int64(1) {
		t.Errorf("listed %v", list.Items)
	}
}

// If a CRD changes or is deleted, its watches end after the earlier events. A new watch at the last revision gets
// 410.
func TestWatchesEndWithTheirDefinition(t *testing.T) {
	for name, change := range map[string]func(*Server){
		"schema": func(s *Server) { define(t, s, things(t, one("{b: {type: string}}"))) },
		"deleted": func(s *Server) {
			must(t, s, &Request{Verb: Delete, Kind: definitionKind, Name: "things.example.com"})
		},
	} {
		s := New(Options{})
		define(t, s, things(t, one("{a: {type: string}}")))
		k := thingKind(s, "v1")
		w, err := s.Watch(k, "", "", metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		must(t, s, thing(t, "v1", "x", "spec: {a: a}").of(k))
		seen := s.Version()
		change(s)
		events := w.Next()
		if len(events) == 0 || events[0].Type != watch.Added || !w.Done() || w.Next() != nil {
			t.Errorf("%s: %v, done %t", name, events, w.Done())
		}
		if name == "deleted" {
			if len(events) != 2 || events[1].Type != watch.Deleted {
				t.Errorf("%s: %v", name, events)
			}
			continue
		}
		again, err := s.Watch(thingKind(s, "v1"), "", "", metav1.ListOptions{ResourceVersion: strconv.FormatUint(seen, 10)})
		if err != nil {
			t.Fatal(err)
		}
		events = again.Next()
		if len(events) != 1 || events[0].Type != watch.Error || !again.Done() ||
			events[0].Object.(*metav1.Status).Reason != metav1.StatusReasonExpired {
			t.Errorf("%s: opened again: %v", name, events)
		}
	}
}

// A change of the CRD's status or labels does not end watches.
func TestWatchesOutliveOtherChanges(t *testing.T) {
	s := New(Options{})
	define(t, s, things(t, one("{a: {type: string}}")))
	w, err := s.Watch(thingKind(s, "v1"), "", "", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	must(t, s, &Request{Verb: Patch, PatchType: types.MergePatchType, Kind: definitionKind, Name: "things.example.com",
		Patch: []byte(`{"metadata":{"labels":{"l":"1"}}}`)})
	if events := w.Next(); len(events) != 0 || w.Done() {
		t.Errorf("%v %t", events, w.Done())
	}
}

// Bookmarks are not converted: a conversion could drop the annotation that marks the end of the initial events.
func TestBookmarksAreNotConverted(t *testing.T) {
	s, v1, v2 := gaugeServer(t, func(obj *unstructured.Unstructured, to schema.GroupVersion) (*unstructured.Unstructured,
		error) {
		if obj.GetName() == "" {
			t.Errorf("converted: %v", obj)
		}
		return levels(obj, to)
	})
	must(t, s, &Request{Verb: Create, Kind: v1, Namespace: "default", Object: gauge(v1, "a", int64(1))})
	yes := true
	w, err := s.Watch(v2, "", "", metav1.ListOptions{SendInitialEvents: &yes, AllowWatchBookmarks: true,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	if err != nil {
		t.Fatal(err)
	}
	events := w.Next()
	if len(events) != 2 || events[1].Type != watch.Bookmark {
		t.Fatalf("%v", events)
	}
	mark := events[1].Object.(*unstructured.Unstructured)
	if mark.GetAPIVersion() != "example.com/v2" || mark.GetAnnotations()[metav1.InitialEventsAnnotationKey] != "true" {
		t.Errorf("%v", mark)
	}
}

const perVersion = `[{name: v1, served: true, storage: true, selectableFields: [{jsonPath: .spec.color}],
  subresources: {scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}},
  schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object,
    x-kubernetes-preserve-unknown-fields: true, properties: {color: {type: string}, count: {type: integer}}}}}}},
 {name: v2, served: true, storage: false, selectableFields: [{jsonPath: .spec.hue}],
  subresources: {scale: {specReplicasPath: .spec.total, statusReplicasPath: .status.total}},
  schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object,
    x-kubernetes-preserve-unknown-fields: true, properties: {hue: {type: string}, total: {type: integer}}}}}}}]`

// Each version has its own scale, selectable fields and list kind.
func TestVersionsHaveTheirOwnSubresources(t *testing.T) {
	s := New(Options{ManagedFields: true})
	define(t, s, things(t, perVersion))
	v1, v2 := thingKind(s, "v1"), thingKind(s, "v2")
	must(t, s, thing(t, "v1", "x", "spec: {color: red, hue: warm, count: 3, total: 7}").of(v1))
	must(t, s, thing(t, "v1", "z", "spec: {color: blue, hue: cold, count: 4, total: 8}").of(v1))
	for k, want := range map[*Kind]int32{v1: 3, v2: 7} {
		scale := must(t, s, &Request{Verb: Get, Kind: k, Subresource: "scale", Namespace: "default", Name: "x"})
		if got := scale.Object.(*autoscalingv1.Scale).Spec.Replicas; got != want {
			t.Errorf("%s: %d replicas, want %d", k.GVK.Version, got, want)
		}
	}
	for k, selector := range map[*Kind]string{v1: "spec.color=red", v2: "spec.hue=warm"} {
		opts := metav1.ListOptions{FieldSelector: selector}
		list := must(t, s, &Request{Verb: List, Kind: k, Namespace: "default", List: opts})
		if len(list.Items) != 1 || list.Items[0].(metav1.Object).GetName() != "x" {
			t.Errorf("%s selected %v", selector, list.Items)
		}
		if kind := k.MakeList(list).GetObjectKind().GroupVersionKind().Kind; kind != "Everything" {
			t.Errorf("the list is a %s", kind)
		}
		opts.ResourceVersion = strconv.FormatUint(s.Version(), 10)
		w, err := s.Watch(k, "", "", opts)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"x", "z"} {
			must(t, s, &Request{Verb: Patch, PatchType: types.MergePatchType, Kind: v1, Namespace: "default", Name: name,
				Patch: []byte(`{"metadata":{"labels":{"l":"` + k.GVK.Version + `"}}}`)})
		}
		if events := w.Next(); len(events) != 1 || events[0].Object.(metav1.Object).GetName() != "x" {
			t.Errorf("%s watched %v", selector, events)
		}
	}
	refused(t, s, &Request{Verb: List, Kind: v2, List: metav1.ListOptions{FieldSelector: "spec.color=red"}}, 400,
		"field label not supported: spec.color")
}

// A Scale can be written without a resourceVersion, by a patch or an update. The field managers of other versions stay
// in managedFields. The schema validates the replicas. A strategic merge patch is refused, as for all custom objects.
func TestScaleOfVersions(t *testing.T) {
	s := New(Options{ManagedFields: true})
	define(t, s, things(t, perVersion))
	v1, v2 := thingKind(s, "v1"), thingKind(s, "v2")
	r := thing(t, "v2", "x", "spec: {total: 1, hue: warm}").of(v2)
	r.Create.FieldManager = "creator"
	must(t, s, r)
	patch := &Request{Verb: Patch, PatchType: types.MergePatchType, Kind: v1, Subresource: "scale", Namespace: "default",
		Name: "x", Patch: []byte(`{"spec":{"replicas":5}}`)}
	patch.PatchO.FieldManager = "scaler"
	must(t, s, patch)
	var managers []string
	for _, e := range must(t, s, &Request{Verb: Get, Kind: v1, Namespace: "default", Name: "x"}).
		Object.(metav1.Object).GetManagedFields() {
		managers = append(managers, e.Manager+" "+e.APIVersion)
	}
	if got := strings.Join(managers, ", "); got != "scaler example.com/v1, creator example.com/v2" {
		t.Errorf("managers: %s", got)
	}
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "default"},
		Spec: autoscalingv1.ScaleSpec{Replicas: 6}}
	put := &Request{Verb: Update, Kind: v1, Subresource: "scale", Namespace: "default", Name: "x", Object: scale}
	must(t, s, put)
	scale.Spec.Replicas = -2
	refused(t, s, put, 422, `Thing.example.com "x" is invalid: .spec.count: Invalid value: -2: should be a non-negative`)
	strategic := *patch
	strategic.PatchType = types.StrategicMergePatchType
	refused(t, s, &strategic, 415, "accepted media types include")
}

// An update may reorder a list with keys even if the list exceeds a new maximum length.
func TestReorderedListsAreLetPass(t *testing.T) {
	s := New(Options{})
	list := func(most string) string {
		return one(`{l: {type: array, ` + most + ` x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k],
  items: {type: object, required: [k], properties: {k: {type: string}, v: {type: string}}}}}`)
	}
	define(t, s, things(t, list("")))
	must(t, s, thing(t, "v1", "x", "spec: {l: [{k: a}, {k: b}]}").of(thingKind(s, "v1")))
	define(t, s, things(t, list("maxItems: 1,")))
	reorder := func(patch string) *Request {
		return &Request{Verb: Patch, PatchType: types.MergePatchType, Kind: thingKind(s, "v1"), Namespace: "default",
			Name: "x", Patch: []byte(patch)}
	}
	must(t, s, reorder(`{"spec":{"l":[{"k":"b"},{"k":"a"}]}}`))
	refused(t, s, reorder(`{"spec":{"l":[{"k":"b","v":"1"},{"k":"a"}]}}`), 422, "Too many")
}

// A rule below the items of a type other than array cannot be compiled. It refuses objects that have such items from
// before the change.
func TestRulesBelowItemsOfAnObject(t *testing.T) {
	s := New(Options{})
	items := "items: {type: object, properties: {k: {type: integer}}, x-kubernetes-validations: [{rule: self.k > 0}]}"
	define(t, s, things(t, one("{l: {type: array, maxItems: 9, "+items+"}}")))
	must(t, s, thing(t, "v1", "x", "spec: {l: [{k: 1}]}").of(thingKind(s, "v1")))
	define(t, s, things(t, one("{l: {type: object, "+items+"}}")))
	refused(t, s, &Request{Verb: Patch, PatchType: types.MergePatchType, Kind: thingKind(s, "v1"), Namespace: "default",
		Name: "x", Patch: []byte(`{"metadata":{"labels":{"a":"b"}}}`)}, 422, `spec.l[0]: Invalid value: "object": `+
		"rule compiler initialization error: failed to convert to declType for CEL validation rules")
}

func condition(s *Server, name string, kind apiextensionsv1.CustomResourceDefinitionConditionType) string {
	for _, c := range s.Lookup(definitionKind, "", name).(*crd.Definition).Status.Conditions {
		if c.Type == kind {
			return string(c.Status) + " " + c.Reason
		}
	}
	return ""
}

// An object above etcd's limit (1.5 MiB) is refused for every kind and verb, unless Options.Unlimited is set.
func TestObjectsAboveEtcdsLimit(t *testing.T) {
	const limit = "etcdserver: request is too large"
	big := strings.Repeat("x", 16<<17)
	for _, unlimited := range []bool{false, true} {
		s := New(Options{Unlimited: unlimited})
		define(t, s, things(t, one("{a: {type: string}}")))
		small := thing(t, "v1", "x", "spec: {a: a}").of(thingKind(s, "v1"))
		must(t, s, small)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "default"}, Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "i", Env: []corev1.EnvVar{{Name: "E", Value: big}}}}}}
		for _, req := range []*Request{
			{Verb: Create, Kind: podKind, Namespace: "default", Object: pod},
			{Verb: Patch, PatchType: types.MergePatchType, Kind: small.Kind, Namespace: "default", Name: "x",
				Patch: []byte(`{"spec":{"a":"` + big + `"}}`)},
		} {
			if unlimited {
				must(t, s, req)
			} else {
				refused(t, s, req, 500, limit)
			}
		}
	}
}

// The limit holds for an object that grows by its metadata or its status, and not for the sum of its updates.
func TestObjectsGrowToEtcdsLimit(t *testing.T) {
	s := New(Options{})
	p := pod("p")
	p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "E", Value: strings.Repeat("x", maxObject-2000)}}
	must(t, s, &Request{Verb: Create, Kind: podKind, Namespace: "default", Object: p})
	write := func(subresource, patch string) *Request {
		return &Request{Verb: Patch, PatchType: types.MergePatchType, Kind: podKind, Namespace: "default", Name: "p",
			Subresource: subresource, Patch: []byte(patch)}
	}
	labels := map[string]string{}
	for i := range 30 {
		labels[strconv.Itoa(i)] = strings.Repeat("x", 63)
	}
	for i := range 20 {
		must(t, s, write("", `{"metadata":{"annotations":{"n":"`+strconv.Itoa(i)+`"}}}`))
		must(t, s, write("status", `{"status":{"message":"`+strconv.Itoa(i)+`"}}`))
	}
	const limit = "etcdserver: request is too large"
	all, _ := json.Marshal(map[string]any{"metadata": map[string]any{"labels": labels}})
	refused(t, s, write("", string(all)), 500, limit)
	refused(t, s, write("status", `{"status":{"message":"`+strings.Repeat("x", 2000)+`"}}`), 500, limit)
}

func TestDefinitionConditions(t *testing.T) {
	s := New(Options{})
	d := things(t, one("{}"))
	d.Name, d.Spec.Group = "things.x.k8s.io", "x.k8s.io"
	d.Annotations = map[string]string{"api-approved.kubernetes.io": "unapproved, testing"}
	define(t, s, d)
	if got := condition(s, d.Name, apiextensionsv1.KubernetesAPIApprovalPolicyConformant); got != "False UnapprovedAnnotation" {
		t.Errorf("approval: %q", got)
	}
	url := "https://127.0.0.1:1/convert"
	d = things(t, one("{}"))
	d.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter,
		Webhook: &apiextensionsv1.WebhookConversion{ConversionReviewVersions: []string{"v1"},
			ClientConfig: &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: []byte("none")}}}
	define(t, s, d)
	if got := condition(s, d.Name, apiextensionsv1.Established); got != "False InvalidCABundle" {
		t.Errorf("established: %q", got)
	}
	d = d.DeepCopy()
	d.Spec.Conversion.Webhook.ClientConfig.CABundle = nil
	define(t, s, d)
	if got := condition(s, d.Name, apiextensionsv1.Established); got != "True InitialNamesAccepted" {
		t.Errorf("established: %q", got)
	}
	d = d.DeepCopy()
	d.ResourceVersion = s.Lookup(definitionKind, "", d.Name).(*crd.Definition).ResourceVersion
	d.Spec.Conversion.Webhook.ClientConfig.CABundle = []byte("none")
	refused(t, s, &Request{Verb: Update, Kind: definitionKind, Name: d.Name, Object: runtime.Object(d)}, 422, "caBundle")
}

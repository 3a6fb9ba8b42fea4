package controllers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/threelaws/threelaws/controllers/internal/history"
	"github.com/threelaws/threelaws/controllers/internal/ref"
	"github.com/threelaws/threelaws/controllers/internal/template"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
	"github.com/threelaws/threelaws/sim/host"
)

// recorded is the template of the recorded cases, and the other constants are the recorded results.
const (
	recorded = `{"spec":{"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"image":"img:1",` +
		`"imagePullPolicy":"IfNotPresent","name":"c","resources":{},"terminationMessagePath":"/dev/termination-log",` +
		`"terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always",` +
		`"schedulerName":"default-scheduler","securityContext":{},"terminationGracePeriodSeconds":30}}}}`
	recordedHash = "6f68c9f5cd"
)

func recordedSet(t *testing.T) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "me"}}
	if err := json.Unmarshal([]byte(recorded), set); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestRevisionDataAndHash(t *testing.T) {
	set := recordedSet(t)
	data := history.Data(&set.Spec.Template)
	if want := strings.Replace(recorded, `{"metadata"`, `{"$patch":"replace","metadata"`, 1); string(data) != want {
		t.Errorf("data %s\nwant %s", data, want)
	}
	zero, one := int32(0), int32(1)
	if got := history.Hash(data, &zero); got != recordedHash {
		t.Errorf("hash %s, recorded %s", got, recordedHash)
	}
	if history.Hash(data, &one) == recordedHash || history.Hash(data, nil) == recordedHash {
		t.Error("the number of collisions makes no difference")
	}
	if got := history.Name(strings.Repeat("n", 240), "h"); len(got) != 225 {
		t.Errorf("a name of %d bytes", len(got))
	}
}

func TestRevisionRestore(t *testing.T) {
	set := recordedSet(t)
	old := &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: history.Data(&set.Spec.Template)}}
	set.Spec.Template.Spec.Containers[0].Image = "img:2"
	set.Spec.Template.Labels["more"] = "y"
	set.Spec.ServiceName = "svc"
	restored, err := history.Restore(set, old)
	if err != nil {
		t.Fatal(err)
	}
	if got := restored.Spec.Template; got.Spec.Containers[0].Image != "img:1" || got.Labels["more"] != "" {
		t.Errorf("restored template %v", got)
	}
	if restored.Spec.ServiceName != "svc" || restored.UID != "me" {
		t.Errorf("restored set %v lost fields that are not in the revision", restored)
	}
	for _, odd := range []string{`[1]`, `{"spec":{"replicas":"many"}}`} {
		r := &appsv1.ControllerRevision{Data: runtime.RawExtension{Raw: []byte(odd)}}
		if _, err := history.Restore(set, r); err == nil {
			t.Errorf("no error for %s, which is no patch of a set", odd)
		}
	}
}

// historyOf returns the history of a set in its own cluster.
func historyOf(t *testing.T) *history.History {
	c := host.NewCluster(sim.New(sim.Zero{}), fakeapi.New(fakeapi.Options{}))
	set := recordedSet(t)
	indexers := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	revisions := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	history.Index(revisions)
	return &history.History{Client: c.Client("user"), Owner: set, Without: &history.Without{}, Revisions: revisions}
}

// stored lists the server's revisions with owners and numbers.
func storedRevisions(t *testing.T, h *history.History) []string {
	items, err := h.Client.List(t.Context(), history.Kind, "default", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, obj := range items {
		r := obj.(*appsv1.ControllerRevision)
		owner := "nobody"
		if c := metav1.GetControllerOfNoCopy(r); c != nil {
			owner = string(c.UID)
		}
		list = append(list, fmt.Sprintf("%s %d %s", r.Name, r.Revision, owner))
	}
	return list
}

func revision(name, data, owner string, number int64) *appsv1.ControllerRevision {
	r := &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "x"}},
		Data:       runtime.RawExtension{Raw: []byte(data)}, Revision: number}
	if owner != "" {
		yes := true
		r.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: owner,
			UID: types.UID(owner), Controller: &yes}}
	}
	return r
}

func createRevision(t *testing.T, h *history.History, r *appsv1.ControllerRevision) *appsv1.ControllerRevision {
	obj, err := h.Client.Create(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return obj.(*appsv1.ControllerRevision)
}

func TestRevisionCreate(t *testing.T) {
	zero := int32(0)
	first := "web-" + history.Hash([]byte(`{"a":1}`), &zero)
	for _, c := range []struct {
		name       string
		there      string // data of the revision that has the first name; "" for none
		without    history.Without
		collisions int32
		stored     int
	}{
		{"free", "", history.Without{}, 0, 1},
		{"made before, by whomever", `{"a":1}`, history.Without{}, 0, 1},
		{"taken", `{"b":2}`, history.Without{}, 1, 2},
		{"taken, and no other is thought of", `{"b":2}`, history.Without{Collision: true}, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := historyOf(t)
			h.Without = &c.without
			if c.there != "" {
				createRevision(t, h, revision(first, c.there, "other", 7))
			}
			got, collisions, err := h.Create(t.Context(), revision("", `{"a":1}`, "me", 1), 0)
			if (err != nil) != c.without.Collision {
				t.Fatal(err)
			}
			if list := storedRevisions(t, h); collisions != c.collisions || len(list) != c.stored {
				t.Errorf("%d collisions, of %q", collisions, list)
			}
			if err == nil && string(got.Data.Raw) != `{"a":1}` {
				t.Errorf("data %s", got.Data.Raw)
			}
		})
	}
}

func TestRevisionAdopt(t *testing.T) {
	for _, c := range []struct {
		name             string
		deleting, failed bool // the set, as cached; the live check
		want             string
	}{
		{"a free one", false, false, "free 1 me"},
		{"for a set that is going", true, false, "free 1 nobody"},
		{"for a set that is gone", false, true, "free 1 nobody"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := historyOf(t)
			set := h.Owner.(*appsv1.StatefulSet)
			if c.deleting {
				now := metav1.NewTime(sim.Epoch)
				set.DeletionTimestamp = &now
			}
			m := &ref.Manager{Client: h.Client, Owner: set, Kind: appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
				Dependent: history.Kind, Without: &ref.Without{LiveCheck: !c.failed}}
			free := createRevision(t, h, revision("free", `{}`, "", 1))
			own := createRevision(t, h, revision("own", `{}`, "me", 2))
			list, err := history.Adopt(t.Context(), m, []*appsv1.ControllerRevision{own, free})
			if (err != nil) != c.failed {
				t.Errorf("error %v", err)
			}
			if adopted := len(list) == 2; adopted == (c.deleting || c.failed) {
				t.Errorf("the set owns %d of 2 revisions", len(list))
			}
			if got := storedRevisions(t, h); !slices.Contains(got, c.want) {
				t.Errorf("%q, want %s", got, c.want)
			}
		})
	}
}

func TestRevisionRenumber(t *testing.T) {
	h := historyOf(t)
	if _, err := h.Renumber(t.Context(), revision("gone", `{}`, "me", 1), 2); !apierrors.IsNotFound(err) {
		t.Errorf("no error for the renumbering of a missing revision: %v", err)
	}
	stale := createRevision(t, h, revision("r", `{}`, "me", 1))
	moved, err := h.Renumber(t.Context(), stale, 2)
	if err != nil || moved.Revision != 2 {
		t.Fatalf("%v, %v", moved, err)
	}
	if _, err := h.Renumber(t.Context(), stale, 3); err == nil {
		t.Error("no error for a stale copy, although the cache has no newer one")
	}
	items, err := h.Client.List(context.Background(), history.Kind, "default", metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Revisions.Add(items[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Renumber(t.Context(), stale, 3); err != nil {
		t.Errorf("the newer copy in the cache was not used: %v", err)
	}
	if got := storedRevisions(t, h); got[0] != "r 3 me" || stale.Revision != 1 {
		t.Errorf("stored %q, and the cached copy has number %d", got, stale.Revision)
	}
}

func TestRevisionsTruncate(t *testing.T) {
	for _, c := range []struct {
		limit   int
		without history.Without
		want    []string
	}{
		{5, history.Without{}, []string{"a 1 me", "b 2 me", "c 3 me"}},
		{1, history.Without{}, []string{"b 2 me", "c 3 me"}},
		{0, history.Without{}, []string{"b 2 me"}},
		{-1, history.Without{}, []string{"a 1 me", "b 2 me", "c 3 me"}},
		{1, history.Without{Live: true}, []string{"c 3 me"}},
	} {
		h := historyOf(t)
		h.Without = &c.without
		var all []*appsv1.ControllerRevision
		for i, name := range []string{"a", "b", "c"} {
			all = append(all, createRevision(t, h, revision(name, `{}`, "me", int64(i+1))))
		}
		live := func(r *appsv1.ControllerRevision) bool { return r.Name == "b" }
		if err := h.Truncate(t.Context(), all, live, c.limit); err != nil {
			t.Fatal(err)
		}
		if got := storedRevisions(t, h); !slices.Equal(got, c.want) {
			t.Errorf("limit %d: %q, want %q", c.limit, got, c.want)
		}
	}
}

// Own returns the set's revisions and ownerless ones, sorted by name. List returns those that match, sorted by number.
func TestRevisionsOwn(t *testing.T) {
	h := historyOf(t)
	elsewhere, theirs := revision("a", "", "me", 1), revision("f", "", "", 1)
	elsewhere.Namespace, theirs.Namespace = "other", "other"
	for _, r := range []*appsv1.ControllerRevision{revision("d", "", "me", 2), revision("b", "", "me", 3),
		revision("c", "", "", 1), revision("e", "", "you", 1), elsewhere, theirs} {
		if err := h.Revisions.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	history.Index(h.Revisions) // a second call does nothing
	var got string
	for _, r := range history.Own(h.Revisions, h.Owner) {
		got += r.Namespace + "/" + r.Name + " "
	}
	if want := "default/b default/c default/d "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got = ""
	for _, r := range h.List(func(labels map[string]string) bool { return labels["app"] == "x" }) {
		got += r.Name + " "
	}
	if want := "c d b "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if list := h.List(func(map[string]string) bool { return false }); len(list) != 0 {
		t.Errorf("%d revisions do not match", len(list))
	}
}

// image returns the template of most recorded cases, with the server's defaults.
func image(name string) *corev1.PodTemplateSpec {
	t := &corev1.PodTemplateSpec{}
	t.Labels = map[string]string{"app": "x"}
	grace := int64(30)
	t.Spec = corev1.PodSpec{
		Containers: []corev1.Container{{Name: "c", Image: name, ImagePullPolicy: corev1.PullIfNotPresent,
			TerminationMessagePath:   "/dev/termination-log",
			TerminationMessagePolicy: corev1.TerminationMessageReadFile}},
		DNSPolicy: corev1.DNSClusterFirst, RestartPolicy: corev1.RestartPolicyAlways,
		SchedulerName:   "default-scheduler",
		SecurityContext: &corev1.PodSecurityContext{}, TerminationGracePeriodSeconds: &grace,
	}
	return t
}

// The hashes are equal to those in recorded cases.
func TestHashIsUpstreams(t *testing.T) {
	for name, want := range map[string]string{"img:1": "5d57d9744c", "img:2": "5c98dd8b56"} {
		if got := template.Hash(image(name), nil); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	one := int32(1)
	if with := template.Hash(image("img:1"), &one); with == template.Hash(image("img:1"), nil) {
		t.Errorf("a collision changes nothing: %s", with)
	}
	old := template.OldHash(image("img:1"))
	if strings.Trim(old, "0123456789") != "" || old == "" {
		t.Errorf("the old hash %q is not a number", old)
	}
	if old == template.OldHash(image("img:2")) {
		t.Errorf("two templates have the old hash %s", old)
	}
}

func TestSameButForTheHash(t *testing.T) {
	plain := image("img:1")
	for _, c := range []struct {
		name   string
		change func(t *corev1.PodTemplateSpec)
		same   bool
	}{
		{"nothing", func(*corev1.PodTemplateSpec) {}, true},
		{"a hash", func(t *corev1.PodTemplateSpec) { t.Labels[template.HashLabel] = "5d57d9744c" }, true},
		{"empty annotations", func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{} }, true},
		{"a label", func(t *corev1.PodTemplateSpec) { t.Labels["extra"] = "1" }, false},
		{"a label less", func(t *corev1.PodTemplateSpec) { delete(t.Labels, "app") }, false},
		{"another label", func(t *corev1.PodTemplateSpec) { t.Labels["app"] = "y" }, false},
		{"an annotation", func(t *corev1.PodTemplateSpec) { t.Annotations = map[string]string{"a": "b"} }, false},
		{"an image", func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "img:2" }, false},
	} {
		other := image("img:1")
		c.change(other)
		if template.Same(plain, other) != c.same || template.Same(other, plain) != c.same {
			t.Errorf("%s: not same=%v", c.name, c.same)
		}
	}
}

// Plain does not modify its argument.
func TestPlainChangesNothing(t *testing.T) {
	labels := map[string]string{"app": "x", template.HashLabel: "5d57d9744c"}
	if plain := template.Plain(labels); len(plain) != 1 || plain["app"] != "x" || len(labels) != 2 {
		t.Errorf("%v, of %v", plain, labels)
	}
}

package ref

import (
	"encoding/json"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

var rsKind = appsv1.SchemeGroupVersion.WithKind("ReplicaSet")

func owner(deleting bool) *appsv1.ReplicaSet {
	rs := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web", UID: "me"}}
	if deleting {
		rs.DeletionTimestamp = &metav1.Time{}
	}
	return rs
}

func pod(namespace string, deleting bool, controller types.UID) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "p", UID: "pod"}}
	if deleting {
		p.DeletionTimestamp = &metav1.Time{}
	}
	if controller != "" {
		yes := true
		// A recreated object has another uid, so it is another owner (ADOPT-8).
		p.OwnerReferences =
			[]metav1.OwnerReference{
				{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: controller, Controller: &yes}}
	}
	return p
}

func TestDecide(t *testing.T) {
	plain := pod("ns", false, "")
	plain.OwnerReferences =
		[]metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web", UID: "other"}}
	for _, c := range []struct {
		name     string
		deleting bool // the owner
		pod      *corev1.Pod
		matches  bool
		without  Without
		want     Decision
	}{
		{"matching orphan", false, pod("ns", false, ""), true, Without{}, Adopt},
		{"other orphan", false, pod("ns", false, ""), false, Without{}, Ignore},
		{"an owner that is no controller", false, plain, true, Without{}, Adopt},
		{"own", false, pod("ns", false, "me"), true, Without{}, Keep},
		{"own, being deleted", false, pod("ns", true, "me"), true, Without{}, Keep},
		{"own, no longer matching", false, pod("ns", false, "me"), false, Without{}, Release},
		{"foreign", false, pod("ns", false, "other"), true, Without{}, Ignore},
		{"foreign, not matching", false, pod("ns", false, "other"), false, Without{}, Ignore},
		{"orphan of a deleting owner", true, pod("ns", false, ""), true, Without{}, Ignore},
		{"own, of a deleting owner", true, pod("ns", false, "me"), true, Without{}, Keep},
		{"own, not matching, of a deleting owner", true, pod("ns", false, "me"), false, Without{}, Ignore},
		{"deleting orphan", false, pod("ns", true, ""), true, Without{}, Ignore},
		{"orphan of another namespace", false, pod("other", false, ""), true, Without{}, Ignore},

		{"without Foreign", false, pod("ns", false, "other"), true, Without{Foreign: true}, Keep},
		{"without Foreign, not matching", false, pod("ns", false, "other"), false, Without{Foreign: true}, Ignore},
		{"without Selector", false, pod("ns", false, ""), false, Without{Selector: true}, Adopt},
		{"without Namespace", false, pod("other", false, ""), true, Without{Namespace: true}, Adopt},
		{"without Deletion", true, pod("ns", false, ""), true, Without{Deletion: true}, Adopt},
		{"without ReleaseDeletion", true, pod("ns", false, "me"), false, Without{ReleaseDeletion: true}, Release},
		{"without ObjectDeletion", false, pod("ns", true, ""), true, Without{ObjectDeletion: true}, Adopt},
		{"without Mismatch", false, pod("ns", false, "me"), false, Without{Mismatch: true}, Keep},
	} {
		if got := Decide(owner(c.deleting), c.pod, c.matches, &c.without); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// A cluster-scoped owner may own objects of any namespace.
func TestDecideClusterScopedOwner(t *testing.T) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n"}}
	if got := Decide(n, pod("ns", false, ""), true, &Without{}); got != Adopt {
		t.Errorf("%s, want adopt", got)
	}
}

func TestPatchBytes(t *testing.T) {
	odd := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: `a"b`, UID: "ü\n"}}
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"adopt", adoptPatch(nil, "pod", rsKind, owner(false)),
			`{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web","uid":"me","controller":true,"blockOwnerDeletion":true}],"uid":"pod"}}`},
		{"adopt, core group, no uid", adoptPatch(nil, "", corev1.SchemeGroupVersion.WithKind("ConfigMap"), odd),
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"a\"b","uid":"ü\n","controller":true,"blockOwnerDeletion":true}]}}`},
		{"release two", ReleasePatch(nil, "pod", "a", "b"),
			`{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"a"},{"$patch":"delete","uid":"b"}],"uid":"pod"}}`},
		{"unblock two", UnblockPatch(nil, "pod", "a", "b"),
			`{"metadata":{"ownerReferences":[{"blockOwnerDeletion":false,"uid":"a"},{"blockOwnerDeletion":false,"uid":"b"}],"uid":"pod"}}`},
		{"clear", clearPatch(nil, "pod"), `{"metadata":{"ownerReferences":null,"uid":"pod"}}`},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, c.got, c.want)
		}
		if !json.Valid(c.got) {
			t.Errorf("%s: not JSON: %s", c.name, c.got)
		}
	}
}

func TestAppendStringIsJSON(t *testing.T) {
	for _, s := range []string{"web", "a b", `a"b`, `a\b`, "a\tb", "a\x7fb", "é", "\u2028", "\xff"} {
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendString(nil, s); string(got) != string(want) {
			t.Errorf("%q is encoded as %s, want %s", s, got, want)
		}
	}
}

// Labels that skip validation are valid for apimachinery.
func TestPlain(t *testing.T) {
	word := strings.Repeat("w", longest)
	domain := word + "." + word + "." + word + "." + word[:60] // the maximum length
	for _, c := range []struct {
		key, value string
		plain      bool
	}{
		{"a", "z", true}, {"A", "Z", true}, {"0", "9", true}, {"a", "", true}, {"a-b", "a-b", true}, {word, word, true},
		{"example.com/name", "x", true}, {domain + "/name", "x", true},

		{"", "x", false}, {"/a", "x", false}, {"a/", "x", false}, {"-a", "x", false}, {"a-", "x", false},
		{"a", "-b", false}, {"a", "b-", false}, {"a.b", "x", false}, {"a_b", "x", false}, {word + "w", "x", false},
		{"a", word + "w", false}, {domain + "w/name", "x", false}, {"Example.com/name", "x", false},
		{"a..b/name", "x", false}, {"a-.b/name", "x", false}, {"a/b/c", "x", false}, {"a.b/-", "x", false},
		{"a", "`", false}, {"a", "{", false}, {"a", "@", false}, {"a", "[", false}, {"a", "/", false},
		{"a", ":", false},
	} {
		set := map[string]string{c.key: c.value}
		if got := plain(set); got != c.plain {
			t.Errorf("%q=%q: plain is %v", c.key, c.value, got)
		}
		s := &metav1.LabelSelector{MatchLabels: set}
		got, err := Parse(s)
		want, wrong := metav1.LabelSelectorAsSelector(s)
		if (err == nil) != (wrong == nil) || err == nil && got.String() != want.String() {
			t.Errorf("%q=%q is parsed as %v, %v, want %v, %v", c.key, c.value, got, err, want, wrong)
		}
		if c.plain && wrong != nil {
			t.Errorf("%q=%q: %v", c.key, c.value, wrong)
		}
	}
}

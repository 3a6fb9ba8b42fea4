package controllers_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/controllers/internal/placement"
)

func placementNode() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"disk": "ssd", "cores": "8"}}}
}

func require(key string, op corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: op, Values: values}
}

func affine(terms ...corev1.NodeSelectorTerm) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: terms}}}
}

func TestSelected(t *testing.T) {
	labelled := func(rs ...corev1.NodeSelectorRequirement) *corev1.Affinity {
		return affine(corev1.NodeSelectorTerm{MatchExpressions: rs})
	}
	named := func(r corev1.NodeSelectorRequirement) *corev1.Affinity {
		return affine(corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{r}})
	}
	for name, c := range map[string]struct {
		spec corev1.PodSpec
		want bool
	}{
		"nothing asked":       {corev1.PodSpec{}, true},
		"node selector":       {corev1.PodSpec{NodeSelector: map[string]string{"disk": "ssd"}}, true},
		"other node selector": {corev1.PodSpec{NodeSelector: map[string]string{"disk": "hdd"}}, false},
		"in":                  {corev1.PodSpec{Affinity: labelled(require("disk", "In", "hdd", "ssd"))}, true},
		"in others":           {corev1.PodSpec{Affinity: labelled(require("disk", "In", "hdd", "tape"))}, false},
		"in, without it":      {corev1.PodSpec{Affinity: labelled(require("zone", "In", ""))}, false},
		"not in":              {corev1.PodSpec{Affinity: labelled(require("disk", "NotIn", "ssd"))}, false},
		"not in others":       {corev1.PodSpec{Affinity: labelled(require("disk", "NotIn", "hdd"))}, true},
		"not in, without it":  {corev1.PodSpec{Affinity: labelled(require("zone", "NotIn", "1"))}, true},
		"not even none":       {corev1.PodSpec{Affinity: labelled(require("zone", "NotIn", ""))}, true},
		"exists":              {corev1.PodSpec{Affinity: labelled(require("disk", "Exists"))}, true},
		"does not exist":      {corev1.PodSpec{Affinity: labelled(require("disk", "DoesNotExist"))}, false},
		"indeed does not":     {corev1.PodSpec{Affinity: labelled(require("zone", "DoesNotExist"))}, true},
		"greater":             {corev1.PodSpec{Affinity: labelled(require("cores", "Gt", "4"))}, true},
		"less":                {corev1.PodSpec{Affinity: labelled(require("cores", "Lt", "4"))}, false},
		"indeed less":         {corev1.PodSpec{Affinity: labelled(require("cores", "Lt", "16"))}, true},
		"no number":           {corev1.PodSpec{Affinity: labelled(require("disk", "Gt", "4"))}, false},
		"exists with a value": {corev1.PodSpec{Affinity: labelled(require("disk", "Exists", "ssd"))}, false},
		"than no number":      {corev1.PodSpec{Affinity: labelled(require("cores", "Gt", "few"))}, false},
		"no operator":         {corev1.PodSpec{Affinity: labelled(require("cores", "Near", "4"))}, false},
		"one of two of a term": {
			corev1.PodSpec{Affinity: labelled(require("disk", "Exists"), require("x", "Exists"))}, false},
		"name":                 {corev1.PodSpec{Affinity: named(require("metadata.name", "In", "a"))}, true},
		"other name":           {corev1.PodSpec{Affinity: named(require("metadata.name", "In", "b"))}, false},
		"not that name":        {corev1.PodSpec{Affinity: named(require("metadata.name", "NotIn", "b"))}, true},
		"other field":          {corev1.PodSpec{Affinity: named(require("spec.x", "NotIn", "b"))}, false},
		"empty term":           {corev1.PodSpec{Affinity: affine(corev1.NodeSelectorTerm{})}, false},
		"no term":              {corev1.PodSpec{Affinity: affine()}, false},
		"affinity without any": {corev1.PodSpec{Affinity: &corev1.Affinity{}}, true},
		"second term": {corev1.PodSpec{Affinity: affine(corev1.NodeSelectorTerm{},
			corev1.NodeSelectorTerm{
				MatchExpressions: []corev1.NodeSelectorRequirement{require("disk", "Exists")}})}, true},
	} {
		if got := placement.Selected(&c.spec, placementNode()); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestTolerated(t *testing.T) {
	taint := &corev1.Taint{Key: "k", Value: "v", Effect: corev1.TaintEffectNoSchedule}
	for name, c := range map[string]struct {
		toleration corev1.Toleration
		want       bool
	}{
		"equal":          {corev1.Toleration{Key: "k", Value: "v"}, true},
		"other value":    {corev1.Toleration{Key: "k", Operator: "Equal", Value: "w"}, false},
		"other key":      {corev1.Toleration{Key: "l", Operator: "Exists"}, false},
		"exists":         {corev1.Toleration{Key: "k", Operator: "Exists"}, true},
		"all keys":       {corev1.Toleration{Operator: "Exists"}, true},
		"other effect":   {corev1.Toleration{Operator: "Exists", Effect: corev1.TaintEffectNoExecute}, false},
		"compares":       {corev1.Toleration{Key: "k", Operator: "Gt", Value: "1"}, false},
		"no operator":    {corev1.Toleration{Key: "k"}, false},
		"the one effect": {corev1.Toleration{Key: "k", Operator: "Exists", Effect: corev1.TaintEffectNoSchedule}, true},
	} {
		n := placementNode()
		n.Spec.Taints = []corev1.Taint{*taint}
		untolerated := placement.Untolerated(n, []corev1.Toleration{c.toleration}, corev1.TaintEffectNoSchedule)
		if untolerated == c.want {
			t.Errorf("%s: untolerated %t", name, untolerated)
		}
		if placement.Untolerated(n, nil, corev1.TaintEffectNoExecute) {
			t.Error("a taint of another effect counts")
		}
	}
}

func TestTarget(t *testing.T) {
	name := func(values ...string) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{
			MatchFields: []corev1.NodeSelectorRequirement{require("metadata.name", "In", values...)}}
	}
	field := func(key string, op corev1.NodeSelectorOperator) corev1.NodeSelectorTerm {
		return corev1.NodeSelectorTerm{
			MatchFields: []corev1.NodeSelectorRequirement{require(key, op, "elsewhere")}}
	}
	for want, spec := range map[string]corev1.PodSpec{
		"bound": {NodeName: "bound", Affinity: affine(name("elsewhere"))},
		"meant": {Affinity: affine(field("metadata.name", "NotIn"), field("spec.x", "In"), name("meant"))},
		"named": {Affinity: affine(corev1.NodeSelectorTerm{}, name("named"), name("later"))},
		"":      {Affinity: affine(name("one", "two"), name("later"))},
	} {
		if got := placement.Target(&corev1.Pod{Spec: spec}); got != want {
			t.Errorf("target %q, want %q", got, want)
		}
	}
	if got := placement.Target(&corev1.Pod{}); got != "" {
		t.Errorf("target %q of a pod without a node", got)
	}
}

package install

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

var workloadKinds = []string{"Deployment", "StatefulSet", "DaemonSet"}

// picked is a workload and its container in which the operator runs.
type picked struct {
	Object
	pod       *corev1.PodTemplateSpec
	container *corev1.Container
	score     int // how well the container fits the operator's program; 0 or less: nothing indicates that it fits
}

func serviceAccount(pod *corev1.PodTemplateSpec) string {
	return cmp.Or(pod.Spec.ServiceAccountName, pod.Spec.DeprecatedServiceAccount, "default")
}

// pickWorkload finds the operator's workload and removes it from Objects.
func (f *finder) pickWorkload(context.Context) error {
	p, err := f.pick(f.Objects)
	if err != nil {
		return err
	}
	f.picked = p
	if p == nil {
		if len(f.Objects) > 0 {
			f.note("no Deployment, StatefulSet or DaemonSet is installed: the operator runs without arguments and " +
				"environment")
		}
		return nil
	}
	f.Objects = slices.DeleteFunc(f.Objects, func(o Object) bool { return o.Unstructured == p.Unstructured })
	for _, o := range f.Objects {
		if isWorkload(o) {
			f.note("%s %s does not run this operator: it is created, and no program runs for it", o.GetKind(), o.GetName())
		}
	}
	return nil
}

func isWorkload(o Object) bool {
	return o.GroupVersionKind().Group == "apps" && slices.Contains(workloadKinds, o.GetKind())
}

// pick returns the workload whose container fits the main package best, or nil if no workload has an image. It returns
// an error if several workloads fit equally well, or if no workload with an image has the name in --workload.
func (f *finder) pick(objects []Object) (*picked, error) {
	var best []*picked
	var all []string
	for _, o := range objects {
		if !isWorkload(o) {
			continue
		}
		all = append(all, o.GetName())
		if f.opts.Workload != "" && f.opts.Workload != o.GetName() {
			continue
		}
		p := f.judge(o)
		switch {
		case p == nil: // the object is a patch, or cannot be read
		case len(best) == 0 || p.score > best[0].score:
			best = []*picked{p}
		case p.score == best[0].score:
			best = append(best, p)
		}
	}
	switch {
	case len(best) == 1:
		return best[0], nil
	case len(best) > 1:
		var named []string
		for _, p := range best {
			named = append(named, fmt.Sprintf("%s %s (%s)", p.GetKind(), p.GetName(), p.place()))
		}
		return nil, fmt.Errorf("several workloads may run the operator: %s: name one with --workload",
			strings.Join(named, ", "))
	case f.opts.Workload != "" && len(all) == 0:
		return nil, fmt.Errorf("--workload %s: the install manifests have no workload", f.opts.Workload)
	case f.opts.Workload != "":
		return nil, fmt.Errorf("--workload %s: the install manifests have only %s", f.opts.Workload, strings.Join(all, ", "))
	}
	return nil, nil
}

// judge returns the most likely container of a workload, or nil if no container has an image or the pod template cannot
// be read.
func (f *finder) judge(o Object) *picked {
	template, _, _ := unstructured.NestedMap(o.Object, "spec", "template")
	text, err := json.Marshal(template)
	pod := &corev1.PodTemplateSpec{}
	if err == nil {
		err = json.Unmarshal(text, pod)
	}
	if bad := (*json.UnmarshalTypeError)(nil); err != nil && !errors.As(err, &bad) { // other fields are set
		f.note("%s: the pod template of %s %s cannot be read: %v", o.place(), o.GetKind(), o.GetName(), err)
		return nil
	}
	var best *picked
	fit := 0 // of the container in best
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if c.Image == "" {
			continue
		}
		score := f.score(o.GetName(), c)
		switch is := score + preference(pod, c); {
		case best == nil:
			best, fit = &picked{o, pod, c, score}, is
		case is > fit:
			best, fit = &picked{o, pod, c, max(score, best.score)}, is
		default:
			best.score = max(score, best.score)
		}
	}
	return best
}

// defaultContainer is the annotation of a pod with the name of its main container.
const defaultContainer = "kubectl.kubernetes.io/default-container"

// preference is added to the score of a container when the containers of one pod are compared. A pod often has a proxy
// in front of the operator's metrics, and the operator's command may differ from the name of its main package.
func preference(pod *corev1.PodTemplateSpec, c *corev1.Container) int {
	switch {
	case pod.Annotations[defaultContainer] == c.Name:
		return 8
	case slices.Contains(words(c.Name), "proxy"):
		return -6
	}
	return 0
}

// score says how well a container fits the operator. The command, which names the program, weighs most.
func (f *finder) score(workload string, c *corev1.Container) int {
	score := 0
	if len(c.Command) > 0 {
		var all []string // the words of the command, also inside shell scripts
		for _, word := range c.Command {
			all = append(all, shellWords(word)...)
		}
		if slices.ContainsFunc(all, func(word string) bool { return slices.Contains(f.names.binaries, path.Base(word)) }) {
			score += 8
		} else if f.names.image != nil {
			score -= 4
		}
	}
	if pkg, ok := strings.CutPrefix(c.Image, "ko://"); ok { // ko builds the image from this package
		if f.local(pkg) == f.Main {
			score += 8
		} else {
			score -= 4
		}
	}
	image, _, _ := strings.Cut(path.Base(c.Image), "@")
	image, _, _ = strings.Cut(image, ":")
	known := slices.Concat(f.names.project, f.names.binaries)
	switch {
	case slices.Contains(known, image):
		score += 4
	case slices.ContainsFunc(f.names.project, func(project string) bool { return strings.Contains(image, project) }):
		score += 2
	}
	if slices.Contains(known, c.Name) {
		score += 2
	}
	if slices.ContainsFunc(known, func(word string) bool { return strings.Contains(workload, word) }) {
		score += 3
	}
	if score <= 0 {
		return score
	}
	if slices.ContainsFunc(words(workload+"-"+c.Name), func(word string) bool {
		return slices.Contains([]string{"webhook", "webhooks", "admission", "metrics", "apiserver", "server", "dashboard",
			"proxy", "ui", "console"}, word)
	}) {
		score--
	}
	return score
}

func words(name string) []string {
	return strings.FieldsFunc(name, func(c rune) bool { return strings.ContainsRune("-_.", c) })
}

// dropWebhooks removes the webhooks of other workloads, which do not run. Calls of these webhooks would fail.
func (f *finder) dropWebhooks(context.Context) error {
	if f.picked == nil {
		return nil
	}
	others := map[types.NamespacedName]string{} // Service -> the workload that it selects
	for _, o := range f.Objects {
		selector, _, _ := unstructured.NestedStringMap(o.Object, "spec", "selector")
		if o.GetKind() != "Service" || o.GetAPIVersion() != "v1" || len(selector) == 0 {
			continue
		}
		selects := func(workload Object) bool {
			of, _, _ := unstructured.NestedStringMap(workload.Object, "spec", "template", "metadata", "labels")
			return workload.GetNamespace() == o.GetNamespace() && labels.SelectorFromSet(selector).Matches(labels.Set(of))
		}
		if selects(f.picked.Object) {
			continue
		}
		for _, w := range f.Objects {
			if isWorkload(w) && selects(w) {
				others[types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}] = w.GetKind() + " " + w.GetName()
			}
		}
	}
	server := func(config map[string]any, path ...string) string {
		service, _, _ := unstructured.NestedMap(config, append(path, "service")...)
		namespace, _ := service["namespace"].(string)
		name, _ := service["name"].(string)
		return others[types.NamespacedName{Namespace: namespace, Name: name}]
	}
	f.Objects = slices.DeleteFunc(f.Objects, func(o Object) bool {
		if !strings.HasSuffix(o.GetKind(), "WebhookConfiguration") {
			return false
		}
		hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks")
		n, by := len(hooks), ""
		hooks = slices.DeleteFunc(hooks, func(hook any) bool {
			config, _ := hook.(map[string]any)
			at := server(config, "clientConfig")
			if at != "" {
				by = at
			}
			return at != ""
		})
		if by == "" {
			return false
		}
		f.note("%d of %d webhooks of %s are left out: %s serves them, for which no program runs", n-len(hooks), n, o.GetName(), by)
		o.Object["webhooks"] = hooks
		return len(hooks) == 0
	})
	for _, crd := range f.CRDs {
		if by := server(crd.Object, "spec", "conversion", "webhook", "clientConfig"); by != "" {
			unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
			f.note("the conversion webhook of %s is left out: %s serves it, for which no program runs", crd.GetName(), by)
		}
	}
	return nil
}

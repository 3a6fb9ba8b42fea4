package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/internal/render"
)

// Version is a stored version of an object, written as the difference from an earlier version, Base. Either Put
// replaces lines of Base, or Lines stands between the first Head and the last Tail lines of Base.
type Version struct {
	Object int   `json:"r"`
	By     int   `json:"c,omitempty"` // the record that stored it, counted from 1; 0 if it existed before the run
	Base   int   `json:"v,omitempty"` // position in Run.Versions, counted from 1; 0 for none
	Head   int   `json:"h,omitempty"`
	Tail   int   `json:"e,omitempty"`
	Lines  []int `json:"l,omitempty"` // positions in Run.Text, counted from 0
	Put    []int `json:"p,omitempty"` // pairs: position of a line in Base, position of its new text in Run.Text

	UID        string   `json:"u,omitempty"`
	Revision   string   `json:"n,omitempty"`
	Owners     []Owner  `json:"o,omitempty"`
	Finalizers []string `json:"f,omitempty"`
	Deleting   bool     `json:"d,omitempty"`
}

// Owner is an owner reference of a version.
type Owner struct {
	Name       string `json:"name"`
	UID        string `json:"uid"`
	Controller bool   `json:"controller,omitempty"`
}

type versions struct {
	of   map[any]int // the position of each version, counted from 1
	list []Version
	text []string
	line map[string]int
	last map[int]latest // the latest version of each object
}

type latest struct {
	position int
	lines    []int
}

func newVersions() versions {
	return versions{of: map[any]int{}, list: []Version{}, text: []string{}, line: map[string]int{},
		last: map[int]latest{}}
}

// add adds a version, unless it is in the list, and returns its position, counted from 1. For nil it returns 0. It
// compares pointers, because records share versions.
func (v *versions) add(version any, object, by int) int {
	if version == nil {
		return 0
	}
	if i := v.of[version]; i > 0 {
		if by > 0 {
			v.list[i-1].By = by
		}
		return i
	}
	var lines []int
	for _, text := range yamlOf(version) {
		i, ok := v.line[text]
		if !ok {
			i = len(v.text)
			v.text, v.line[text] = append(v.text, text), i
		}
		lines = append(lines, i)
	}
	last := v.last[object]
	j := Version{Object: object, By: by, Base: last.position}
	if j.Put = replaced(last.lines, lines); j.Put == nil {
		j.Head, j.Tail = shared(last.lines, lines)
		j.Lines = append([]int{}, lines[j.Head:len(lines)-j.Tail]...)
	}
	j.meta(version)
	v.list = append(v.list, j)
	v.of[version] = len(v.list)
	v.last[object] = latest{len(v.list), lines}
	return len(v.list)
}

// meta copies the metadata that the ownership tree shows.
func (v *Version) meta(version any) {
	o, ok := version.(metav1.Object)
	if !ok {
		return
	}
	v.UID, v.Revision = string(o.GetUID()), o.GetResourceVersion()
	v.Finalizers, v.Deleting = o.GetFinalizers(), render.Deleting(version)
	for _, w := range render.Owners(version) {
		v.Owners = append(v.Owners, Owner{Name: w.Ref.String(), UID: w.Ref.UID, Controller: w.Controller})
	}
}

// replaced returns the lines that differ between two versions, in the format of Version.Put. It returns nil if the
// versions have different numbers of lines, or if more than half of the lines differ.
func replaced(a, b []int) (put []int) {
	if len(a) != len(b) {
		return nil
	}
	put = []int{}
	for i := range b {
		if a[i] != b[i] {
			put = append(put, i, b[i])
		}
	}
	if len(put) > len(b) {
		return nil
	}
	return put
}

// shared returns the number of equal lines at the beginning and at the end of two versions.
func shared(a, b []int) (head, tail int) {
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	return head, tail
}

// yamlOf returns a version of an object as lines of YAML. It leaves out managedFields. It also leaves out spec.versions
// of CRDs, which would fill most of a page.
func yamlOf(version any) []string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(version)
	if err != nil { // the object has no Go type: use its JSON
		if content, err = decoded(version); err != nil {
			return []string{fmt.Sprintf("# %v", err)}
		}
	}
	if meta, ok := content["metadata"].(map[string]any); ok && meta["managedFields"] != nil {
		meta = maps.Clone(meta)
		delete(meta, "managedFields")
		content = maps.Clone(content)
		content["metadata"] = meta
	}
	if spec, ok := content["spec"].(map[string]any); ok && content["kind"] == "CustomResourceDefinition" {
		spec = maps.Clone(spec)
		delete(spec, "versions")
		content = maps.Clone(content)
		content["spec"] = spec
	}
	var b strings.Builder
	for _, k := range slices.SortedFunc(maps.Keys(content), compareKeys) {
		e := yaml.NewEncoder(&b)
		e.SetIndent(2)
		e.CompactSeqIndent()
		if err := e.Encode(map[string]any{k: content[k]}); err != nil {
			return []string{fmt.Sprintf("# %v", err)}
		}
	}
	return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
}

func decoded(version any) (map[string]any, error) {
	text, err := json.Marshal(version)
	if err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return nil, err
	}
	if content, ok := value.(map[string]any); ok {
		return content, nil
	}
	return map[string]any{"value": value}, nil
}

// compareKeys puts apiVersion, kind, metadata and spec first, in this order, and sorts the other keys by name. For most
// kinds, kubectl has the same order.
func compareKeys(a, b string) int {
	place := func(k string) int {
		return slices.Index([]string{"spec", "metadata", "kind", "apiVersion"}, k)
	}
	return cmp.Or(cmp.Compare(place(b), place(a)), cmp.Compare(a, b))
}

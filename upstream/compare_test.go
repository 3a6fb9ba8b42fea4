package upstream_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/generate"
)

// compare lists in what the answers of two servers differ; kinds are filled in later.
func compare(own, real *fakeapi.Response) (found []difference) {
	switch {
	case own.Code == -1:
		return []difference{{what: "panics here"}}
	case real.Code == -1:
		return []difference{{what: "panics there"}}
	case own.Err == nil && real.Err == nil:
		a, b := plain(own.Object), plain(real.Object)
		found = walk("", a, b)
		if !slices.Equal(own.Warnings, real.Warnings) {
			found = append(found, difference{field: "", what: "warnings"})
		}
		return found
	case own.Err == nil:
		return each(real.Err.ErrStatus.Details, real.Err.ErrStatus.Message, "accepted here only")
	case real.Err == nil:
		return each(own.Err.ErrStatus.Details, own.Err.ErrStatus.Message, "refused here only")
	case own.Code != real.Code:
		return []difference{{what: fmt.Sprintf("status %d, not %d", own.Code, real.Code)}}
	}
	return causes(own.Err.ErrStatus.Details, real.Err.ErrStatus.Details)
}

// each is one difference for each cause of a refusal.
func each(d *metav1.StatusDetails, message, what string) (found []difference) {
	if d == nil || len(d.Causes) == 0 {
		return []difference{{field: message, what: what}}
	}
	for _, c := range d.Causes {
		found = append(found, difference{field: c.Field, what: what})
	}
	return found
}

// causes compares why two servers refuse.
func causes(own, real *metav1.StatusDetails) (found []difference) {
	if own == nil || real == nil {
		return nil
	}
	left := slices.Clone(own.Causes)
	for _, c := range real.Causes {
		i := slices.Index(left, c)
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		what := "not complained of"
		if i := slices.IndexFunc(left, func(o metav1.StatusCause) bool { return o.Field == c.Field }); i >= 0 {
			left, what = slices.Delete(left, i, i+1), "other words"
		}
		found = append(found, difference{field: c.Field, what: what})
	}
	for _, c := range left {
		found = append(found, difference{field: c.Field, what: "complained of here only"})
	}
	return found
}

// plain is an object as JSON.
func plain(obj runtime.Object) any {
	raw, err := json.Marshal(obj)
	if err != nil {
		return err.Error()
	}
	var v map[string]any
	json.Unmarshal(raw, &v)
	return v
}

var times = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$`)

// walk lists the fields in which two values differ.
func walk(path string, a, b any) (found []difference) {
	if reflect.DeepEqual(a, b) {
		return nil
	}
	x, isMap := a.(map[string]any)
	y, both := b.(map[string]any)
	if isMap && both {
		keys := map[string]bool{}
		for k := range x {
			keys[k] = true
		}
		for k := range y {
			keys[k] = true
		}
		for k := range keys {
			found = append(found, walk(strings.TrimPrefix(path+"."+k, "."), x[k], y[k])...)
		}
		return found
	}
	l, isList := a.([]any)
	m, both := b.([]any)
	if isList && both && len(l) == len(m) {
		for i := range l {
			found = append(found, walk(path+"[]", l[i], m[i])...)
		}
		return found
	}
	s, _ := a.(string)
	u, _ := b.(string)
	if times.MatchString(s) && times.MatchString(u) {
		return nil // the clock on the wall
	}
	return []difference{{field: path, what: "other value"}}
}

var (
	indices   = regexp.MustCompile(`\[[^\]]*\]`)
	templates = regexp.MustCompile(`^(spec\.)?(jobTemplate\.spec\.|template\.spec\.)?template\.spec\.`)
)

// place is where a field is: what templates of Pods have in common counts for the Pod.
func place(kind, field string) (string, string) {
	field = indices.ReplaceAllString(field, "[]")
	if kind != "ResourceClaimTemplate" && templates.MatchString(field) {
		return "Pod", templates.ReplaceAllString(field, "spec.")
	}
	if len(field) > 80 {
		field = field[:80]
	}
	return kind, field
}

// learn takes note of the values that a refusal names.
func learn(m *generate.Mutator, d *metav1.StatusDetails) {
	if d == nil {
		return
	}
	for _, c := range d.Causes {
		_, list, ok := strings.Cut(c.Message, "supported values: ")
		if !ok {
			continue
		}
		name := c.Field[strings.LastIndexByte(c.Field, '.')+1:]
		name = strings.TrimSuffix(indices.ReplaceAllString(name, ""), ".")
		if name == "" {
			continue
		}
		for _, w := range strings.Split(list, ", ") {
			m.Word(strings.ToUpper(name[:1])+name[1:], strings.Trim(w, `"`))
		}
	}
}

package validation

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/threelaws/threelaws/fakeapi/internal/same"
)

type keys[E any] struct {
	spec, status func(obj *E) same.Encoded
	// name returns a text that contains the object's name. It is nil if the rules ignore the name.
	name func(obj *E) string
	// alone is set if the rules for the status do not depend on the spec.
	alone bool
	// writes is set for the validation of status writes.
	writes bool
}

func (k *keys[E]) ofStatus() *keys[E] {
	if k == nil {
		return nil
	}
	of := *k
	of.writes = true
	return &of
}

// verdicts caches the encoded specs or statuses of objects without errors or warnings, by hash. All servers share the
// cache, because an object's validity depends only on this encoding.
var verdicts [1 << 11]atomic.Pointer[string]

// ways counts the functions that the function way has returned. A cache key begins with the number of its function.
var ways atomic.Uint32

var seed = maphash.MakeSeed()

type verdict struct {
	key   []byte
	at    *atomic.Pointer[string]
	right bool // the cache contains key: the object is valid
}

var spareVerdicts = sync.Pool{New: func() any { return new(verdict) }}

// longest is the maximum length of a cached key.
const longest = 1 << 14

func (k *keys[E]) look(way uint32, obj, old *E) *verdict {
	v := spareVerdicts.Get().(*verdict)
	v.key = binary.LittleEndian.AppendUint32(v.key[:0], way)
	if k.name != nil {
		v.key = append(append(v.key, k.name(obj)...), 0)
	}
	if !k.writes || !k.alone {
		v.add(k.spec(obj))
	}
	switch {
	case k.writes:
		v.add(k.status(obj))
		v.add(k.status(old))
	case old != nil:
		v.add(k.spec(old))
	}
	v.at = &verdicts[maphash.Bytes(seed, v.key)%uint64(len(verdicts))]
	have := v.at.Load()
	v.right = have != nil && *have == string(v.key)
	return v
}

func (v *verdict) add(part same.Encoded) {
	size := part.Size()
	at := len(v.key)
	if need := at + size; cap(v.key) < need+4 {
		v.key = append(make([]byte, 0, 2*need+4), v.key...)
	}
	v.key = v.key[:at+size]
	if _, err := part.MarshalToSizedBuffer(v.key[at:]); err != nil {
		panic("fakeapi: an object does not encode: " + err.Error())
	}
	v.key = binary.LittleEndian.AppendUint32(v.key, uint32(size))
}

func (v *verdict) remember() {
	if len(v.key) <= longest {
		key := string(v.key)
		v.at.Store(&key)
	}
}

func (v *verdict) forget() { spareVerdicts.Put(v) }

// inOrder sorts errors about entries of a map by key. Upstream reports them in random order.
func inOrder(errs field.ErrorList) field.ErrorList {
	for i := 0; i < len(errs); {
		n, of := 1, mapOf(errs[i])
		for of != "" && i+n < len(errs) && mapOf(errs[i+n]) == of {
			n++
		}
		slices.SortStableFunc(errs[i:i+n], func(a, b *field.Error) int {
			return cmp.Compare(entryOf(a), entryOf(b))
		})
		i += n
	}
	return errs
}

// mapOf returns the path of the map whose entry an error is about; "" if inOrder must not sort the error.
func mapOf(e *field.Error) string {
	key := keyOf(e.Field)
	if keysAsValues(e.Field) {
		return e.Field
	}
	if ofRequest(e) {
		return strings.TrimSuffix(e.Field, "limits") + "requests"
	}
	of := strings.TrimSuffix(e.Field, "["+key+"]")
	if strings.HasPrefix(of, "spec.limits[") && of != e.Field && fmt.Sprint(e.BadValue) != key {
		return of[:strings.IndexByte(of, ']')]
	}
	if of == e.Field || e.Type == field.ErrorTypeRequired || strings.HasSuffix(of, "labels") {
		return ""
	}
	return of
}

// entryOf returns the sort key of an error for inOrder: the map key. An error of ofRequest gets the last sort key.
func entryOf(e *field.Error) string {
	if keysAsValues(e.Field) {
		return fmt.Sprint(e.BadValue)
	}
	if ofRequest(e) {
		return "\xff"
	}
	return keyOf(e.Field)
}

// ofRequest reports whether an error says that a resource request needs a limit. inOrder puts such an error last.
func ofRequest(e *field.Error) bool {
	return e.Type == field.ErrorTypeRequired && strings.HasSuffix(e.Field, "resources.limits") &&
		strings.HasPrefix(e.Detail, "Limit must be set")
}

// keysAsValues reports whether an error about an entry of this map has only the path of the map. The key is then the
// bad value of the error. The status of a PersistentVolumeClaim has two such maps.
func keysAsValues(path string) bool {
	return path == "status.allocatedResources" || path == "status.allocatedResourceStatuses"
}

// keyOf returns the map key at the end of a path. It returns "" if the path ends with a list index.
func keyOf(path string) string {
	open := strings.IndexByte(path, '[')
	for open >= 0 && strings.HasSuffix(path, "]") {
		key := path[open+1:]
		end := strings.IndexByte(key, ']')
		if _, err := strconv.Atoi(key[:end]); err != nil {
			return strings.TrimSuffix(key, "]")
		}
		next := strings.IndexByte(key, '[')
		if next < 0 {
			return ""
		}
		open += 1 + next
	}
	return ""
}

func validateRule(r *admissionv1.RuleWithOperations, path *field.Path) (errs field.ErrorList) {
	at := path.Child("operations")
	if len(r.Operations) == 0 {
		errs = append(errs, field.Required(at, ""))
	}
	if len(r.Operations) > 1 && slices.Contains(r.Operations, admissionv1.OperationAll) {
		errs = append(errs, field.Invalid(at, r.Operations, "if '*' is present, must not specify other operations"))
	}
	for i := range r.Operations {
		errs = append(errs, among(&r.Operations[i], at.Index(i), admissionv1.OperationAll, admissionv1.Connect,
			admissionv1.Create, admissionv1.Delete, admissionv1.Update)...)
	}
	errs = append(errs, aloneOrSome(r.APIGroups, path.Child("apiGroups"), "API groups")...)
	versions := path.Child("apiVersions")
	errs = append(errs, aloneOrSome(r.APIVersions, versions, "API versions")...)
	for i, v := range r.APIVersions {
		if v == "" {
			errs = append(errs, field.Required(versions.Index(i), ""))
		}
	}
	errs = append(errs, validateRuleResources(r.Resources, path.Child("resources"))...)
	return append(errs, among(r.Scope, path.Child("scope"), admissionv1.AllScopes, admissionv1.ClusterScope,
		admissionv1.NamespacedScope)...)
}

// aloneOrSome returns an error if the list is empty, or contains * and another item.
func aloneOrSome(list []string, path *field.Path, what string) field.ErrorList {
	switch {
	case len(list) == 0:
		return field.ErrorList{field.Required(path, "")}
	case len(list) > 1 && slices.Contains(list, "*"):
		return field.ErrorList{field.Invalid(path, list, "if '*' is present, must not specify other "+what)}
	}
	return nil
}

func validateRuleResources(list []string, path *field.Path) (errs field.ErrorList) {
	if len(list) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	of, to := map[string]bool{}, map[string]bool{} // "x/*" sets of["x"], "*/y" sets to["y"] for later items
	every, bare := false, false
	for i, text := range list {
		if text == "" {
			errs = append(errs, field.Required(path.Index(i), ""))
			continue
		}
		every = every || text == "*"
		resource, sub, both := strings.Cut(text, "/")
		if !both {
			bare = text != "*"
			continue
		}
		if of[resource] {
			errs = append(errs, field.Invalid(path.Index(i), text,
				fmt.Sprintf("if '%s/*' is present, must not specify %s", resource, text)))
		}
		if to[sub] {
			errs = append(errs, field.Invalid(path.Index(i), text,
				fmt.Sprintf("if '*/%s' is present, must not specify %s", sub, text)))
		}
		of[resource] = of[resource] || sub == "*"
		to[sub] = to[sub] || resource == "*"
	}
	if len(list) > 1 && slices.Contains(list, "*/*") {
		errs = append(errs, field.Invalid(path, list, "if '*/*' is present, must not specify other resources"))
	}
	if every && bare {
		errs = append(errs, field.Invalid(path, list,
			"if '*' is present, must not specify other resources without subresources"))
	}
	return errs
}

package validation

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/capabilities"

	"github.com/threelaws/threelaws/fakeapi/internal/clientgates"
)

func init() {
	capabilities.Setup(true, 0) // privileged containers are allowed, as in clusters
	clientgates.Restore()
}

// Judge returns what is wrong with the new state of an object, metadata included, and the
// warnings about it. old is nil on create. sound says that nothing is wrong with the metadata.
type Judge func(obj, old runtime.Object, sound bool) (field.ErrorList, []string)

// Kind holds the rules of Kubernetes for one built-in kind.
type Kind struct {
	Create, Update, Status Judge
}

// rules are what a strategy of the real server calls, in terms of the internal type.
type rules[I any] struct {
	create           func(obj *I) field.ErrorList
	update, status   func(obj, old *I) field.ErrorList
	warn, warnStatus func(obj, old *I) []string // old is nil on create
}

// kind makes rules about the internal type those of the API's type. keys, if not nil, makes
// verdicts on objects with the same parts be remembered.
func kind[E, I any](in func(*E, *I, conversion.Scope) error, keys *keys[E], r rules[I]) Kind {
	k := Kind{Create: way(in, keys, func(obj, _ *I) field.ErrorList { return r.create(obj) }, r.warn)}
	if r.update != nil {
		k.Update = way(in, keys, r.update, r.warn)
	}
	if r.status != nil {
		k.Status = way(in, keys.ofStatus(), r.status, r.warnStatus)
	}
	return k
}

// way makes the rules of one way to write an object those of the API's type.
func way[E, I any](in func(*E, *I, conversion.Scope) error, keys *keys[E], check func(obj, old *I) field.ErrorList,
	warn func(obj, old *I) []string) Judge {
	number := ways.Add(1)
	return func(obj, old runtime.Object, sound bool) (field.ErrorList, []string) {
		e := any(obj).(*E)
		var was *E
		if old != nil {
			was = any(old).(*E)
		}
		var seen *verdict
		if sound && keys != nil {
			if seen = keys.look(number, e, was); seen.right {
				seen.forget()
				return nil, nil
			}
		}
		errs, warnings := judge(in, e, was, check, warn)
		if seen != nil {
			if len(errs)+len(warnings) == 0 {
				seen.remember()
			}
			seen.forget()
		}
		return errs, warnings
	}
}

func judge[E, I any](in func(*E, *I, conversion.Scope) error, obj, old *E, check func(obj, old *I) field.ErrorList,
	warn func(obj, old *I) []string) (field.ErrorList, []string) {
	now, was := new(I), (*I)(nil)
	err := in(obj, now, nil)
	if old != nil && err == nil {
		was = new(I)
		err = in(old, was, nil)
	}
	if err != nil {
		return field.ErrorList{field.InternalError(nil, err)}, nil
	}
	if errs := check(now, was); len(errs) > 0 {
		return inOrder(errs), nil
	}
	if warn != nil {
		return nil, warn(now, was)
	}
	return nil, nil
}

// same makes rules about new objects those about changed ones.
func same[I any](check func(*I) field.ErrorList) func(obj, old *I) field.ErrorList {
	return func(obj, _ *I) field.ErrorList { return check(obj) }
}

// always warns of changed objects as of new ones.
func always[I any](warn func(*I) []string) func(obj, old *I) []string {
	return func(obj, _ *I) []string { return warn(obj) }
}

// hostnames warns of a new object's name that does not fit into the hostnames of Pods.
func hostnames(name, used string) []string {
	if msgs := utilvalidation.IsDNS1123Label(name); len(msgs) > 0 {
		return []string{fmt.Sprintf("metadata.name: this is used in %s, which can result in surprising behavior; "+
			"a DNS label is recommended: %v", used, msgs)}
	}
	return nil
}

const (
	podHostname  = "the Pod's hostname"
	podHostnames = "Pod names and hostnames"
)

var (
	background   = context.Background()
	templatePath = field.NewPath("spec", "template")
)

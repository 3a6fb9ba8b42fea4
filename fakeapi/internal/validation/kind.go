// Package validation checks objects of built-in kinds. It calls k8s.io/kubernetes/pkg/apis, as the real server does. It
// has its own checks for admissionregistration.k8s.io, because upstream's would add some 500 packages.
package validation

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	core "k8s.io/kubernetes/pkg/apis/core"
	conv "k8s.io/kubernetes/pkg/apis/core/v1"
	v "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/capabilities"

	"github.com/threelaws/threelaws/fakeapi/internal/clientgates"
	"github.com/threelaws/threelaws/fakeapi/internal/expression"
)

var specPath = field.NewPath("spec")

// Scale returns the errors in a Scale that a client sends.
func Scale(s *autoscalingv1.Scale, namespaced bool) field.ErrorList {
	errs := apivalidation.ValidateObjectMeta(&s.ObjectMeta, namespaced, apivalidation.NameIsDNSSubdomain,
		field.NewPath("metadata"))
	if s.Spec.Replicas < 0 {
		errs = append(errs, field.Invalid(specPath.Child("replicas"), s.Spec.Replicas,
			"must be greater than or equal to 0"))
	}
	return errs
}

func init() {
	capabilities.Setup(true, 0) // privileged containers are allowed, as in most clusters
	clientgates.Restore()
}

// Judge returns errors and warnings about the new state of an object. old is nil on create. If sound is set, the
// metadata is certainly valid and need not be checked.
type Judge func(obj, old runtime.Object, sound bool) (field.ErrorList, []string)

// Judges holds the rules of Kubernetes for one built-in kind.
type Judges struct {
	Create, Update, Status Judge
}

// rules holds the validation functions of the real server for one kind. They take objects of the internal type.
type rules[I any] struct {
	create           func(obj *I) field.ErrorList
	update, status   func(obj, old *I) field.ErrorList
	warn, warnStatus func(obj, old *I) []string // old is nil on create
	hostnames        string                     // how Pods use the name, for a warning; "" for no warning
	// changed reports whether the Pod template may have changed. By default, it compares the generation.
	changed func(obj, old *I) bool
}

func kind[E, I any](in func(*E, *I, conversion.Scope) error, keys *keys[E], r rules[I]) Judges {
	k := Judges{Create: way(in, keys, func(obj, _ *I) field.ErrorList { return r.create(obj) },
		func(obj, _ *I) (all []string) {
			if r.hostnames != "" {
				all = hostnames(any(obj).(metav1.Object).GetName(), r.hostnames)
			}
			if r.warn != nil {
				all = append(all, r.warn(obj, nil)...)
			}
			return all
		})}
	if r.update != nil {
		k.Update = way(in, keys, r.update, r.warn)
	}
	if r.status != nil {
		k.Status = way(in, keys.ofStatus(), r.status, r.warnStatus)
	}
	return k
}

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

func ignoringOld[I any](check func(*I) field.ErrorList) func(obj, old *I) field.ErrorList {
	return func(obj, _ *I) field.ErrorList { return check(obj) }
}

// andCreate returns a function that applies the rules for new objects, and then the rules for updates.
func andCreate[I any](create func(*I) field.ErrorList, update func(obj, old *I) field.ErrorList) func(obj,
	old *I) field.ErrorList {
	return func(obj, old *I) field.ErrorList { return append(create(obj), update(obj, old)...) }
}

func always[I any](warn func(*I) []string) func(obj, old *I) []string {
	return func(obj, _ *I) []string { return warn(obj) }
}

// templated adds the rules for the Pod template of a kind. An update may keep errors that the old object has. warns is
// the template's path in warnings, or nil for no warnings.
func templated[I any, P interface {
	*I
	metav1.Object
}](warns *field.Path, template func(*I) *core.PodTemplateSpec, create func(*I, v.PodValidationOptions) field.ErrorList,
	update func(obj, old *I, opts v.PodValidationOptions) field.ErrorList, r rules[I]) rules[I] {
	r.create = func(obj *I) field.ErrorList {
		return create(obj, podutil.GetValidationOptionsFromPodTemplate(template(obj), nil))
	}
	r.update = func(obj, old *I) field.ErrorList {
		return update(obj, old, podutil.GetValidationOptionsFromPodTemplate(template(obj), template(old)))
	}
	if r.changed == nil {
		r.changed = func(obj, old *I) bool { return P(obj).GetGeneration() != P(old).GetGeneration() }
	}
	if own := r.warn; warns != nil {
		r.warn = func(obj, old *I) (all []string) {
			if old == nil {
				all = podutil.GetWarningsForPodTemplate(background, warns, template(obj), nil)
			} else if r.changed(obj, old) {
				all = podutil.GetWarningsForPodTemplate(background, warns, template(obj), template(old))
			}
			if own != nil {
				all = append(all, own(obj, old)...)
			}
			return all
		}
	}
	return r
}

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

func among[T ~string](value *T, path *field.Path, of ...T) field.ErrorList {
	if value == nil || slices.Contains(of, *value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, *value, of)}
}

func named(name string, path *field.Path, rule func(name string, prefix bool) []string) (errs field.ErrorList) {
	for _, msg := range rule(name, false) {
		errs = append(errs, field.Invalid(path, name, msg))
	}
	return errs
}

func mustName(name string, path *field.Path, rule func(name string, prefix bool) []string) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return named(name, path, rule)
}

func required(text string, path *field.Path) field.ErrorList {
	if text != "" {
		return nil
	}
	return field.ErrorList{field.Required(path, "")}
}

func plain(check func(string) []string) func(string, bool) []string {
	return func(name string, _ bool) []string { return check(name) }
}

func qualified(name string, path *field.Path) field.ErrorList {
	return named(name, path, plain(utilvalidation.IsQualifiedName))
}

// OneOf returns an error if a value is empty or not allowed.
func OneOf[T ~string](value T, path *field.Path, of ...T) field.ErrorList {
	if value == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return among(&value, path, of...)
}

// LogOptions reads the options in the query of a log request. err is set if they cannot be decoded, and errs if they
// are invalid.
func LogOptions(query url.Values) (opts corev1.PodLogOptions, errs field.ErrorList, err error) {
	var in core.PodLogOptions
	if err = conv.Convert_url_Values_To_v1_PodLogOptions(&query, &opts, nil); err == nil {
		err = conv.Convert_v1_PodLogOptions_To_core_PodLogOptions(&opts, &in, nil)
	}
	if err != nil {
		return opts, nil, err
	}
	return opts, v.ValidatePodLogOptions(&in, false), nil
}

// compiles returns an error if an expression does not compile. shown is the text of the expression in the error.
func compiles(x *expression.Language, e expression.Expression, shown string, path *field.Path) field.ErrorList {
	if why := x.Wrong(e); why != "" {
		return field.ErrorList{field.Invalid(path, shown, why)}
	}
	return nil
}

func validateConditions(params bool, all []admissionv1.MatchCondition, path *field.Path) (errs field.ErrorList) {
	if len(all) > 64 {
		errs = append(errs, field.TooMany(path, len(all), 64))
	}
	if len(all) == 0 {
		return nil
	}
	x, seen := expression.New(false), map[string]bool{}
	for i, c := range all {
		text, at := strings.TrimSpace(c.Expression), path.Index(i).Child("expression")
		if text == "" {
			errs = append(errs, field.Required(at, ""))
		} else {
			errs = append(errs, compiles(x, expression.Expression{Text: text, Params: params}, text, at)...)
		}
		switch at := path.Index(i).Child("name"); {
		case c.Name == "":
			errs = append(errs, field.Required(at, ""))
		case seen[c.Name]:
			errs = append(append(errs, qualified(c.Name, at)...), field.Duplicate(at, c.Name))
		default:
			errs = append(errs, qualified(c.Name, at)...)
		}
		seen[c.Name] = true
	}
	return errs
}

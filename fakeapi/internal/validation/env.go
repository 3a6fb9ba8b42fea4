package validation

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateEnv checks an environment variable and where its value comes from.
func validateEnv(e *corev1.EnvVar, path *field.Path) (errs field.ErrorList) {
	if e.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	} else {
		errs = append(errs, named(e.Name, path.Child("name"), plain(utilvalidation.IsRelaxedEnvVarName))...)
	}
	from := e.ValueFrom
	if from == nil {
		return errs
	}
	at, n := path.Child("valueFrom"), 0
	if ref := from.FieldRef; ref != nil {
		n++
		errs = append(errs, validateFieldRef(ref, fieldsOfEnv, at.Child("fieldRef"))...)
	}
	if ref := from.ResourceFieldRef; ref != nil {
		n++
		errs = append(errs, validateResourceRef(ref, at.Child("resourceFieldRef"), false)...)
	}
	if ref := from.ConfigMapKeyRef; ref != nil {
		n++
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, at.Child("configMapKeyRef"))...)
	}
	if ref := from.SecretKeyRef; ref != nil {
		n++
		errs = append(errs, validateKeyRef(ref.Name, ref.Key, at.Child("secretKeyRef"))...)
	}
	if ref := from.FileKeyRef; ref != nil {
		n++
		errs = append(errs, validateFileKey(ref, at.Child("fileKeyRef"))...)
	}
	switch {
	case n == 0:
		errs = append(errs, field.Invalid(at, "",
			"must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"))
	case e.Value != "":
		errs = append(errs, field.Invalid(at, "", "may not be specified when `value` is not empty"))
	case n > 1:
		errs = append(errs, field.Invalid(at, "", "may not have more than one field specified at a time"))
	}
	return errs
}

// The fields of a Pod that its variables and its files may show, sorted.
var (
	fieldsOfEnv = []string{"metadata.name", "metadata.namespace", "metadata.uid", "spec.nodeName",
		"spec.serviceAccountName", "status.hostIP", "status.hostIPs", "status.podIP", "status.podIPs"}
	fieldsOfFiles = []string{"metadata.annotations", "metadata.labels", "metadata.name", "metadata.namespace",
		"metadata.uid"}
)

// fieldsOfPods are all fields of Pods that have a name in the downward API.
var fieldsOfPods = append(fieldsOfEnv, "metadata.annotations", "metadata.labels", "spec.restartPolicy",
	"spec.schedulerName", "status.phase", "spec.host")

func validateFieldRef(ref *corev1.ObjectFieldSelector, known []string, path *field.Path) field.ErrorList {
	if ref.APIVersion == "" {
		return field.ErrorList{field.Required(path.Child("apiVersion"), "")}
	}
	at := path.Child("fieldPath")
	if ref.FieldPath == "" {
		return field.ErrorList{field.Required(at, "")}
	}
	name, key, subscripted := subscript(ref.FieldPath)
	unknown := ""
	switch {
	case ref.APIVersion != "v1":
		unknown = "unsupported pod version: " + ref.APIVersion
	case subscripted && name != "metadata.annotations" && name != "metadata.labels":
		unknown = "field label does not support subscript: " + ref.FieldPath
	case !subscripted && !slices.Contains(fieldsOfPods, ref.FieldPath):
		unknown = "field label not supported: " + ref.FieldPath
	}
	if unknown != "" {
		return field.ErrorList{field.Invalid(at, ref.FieldPath, "error converting fieldPath: "+unknown)}
	}
	if name == "spec.host" {
		name = "spec.nodeName"
	}
	switch {
	case subscripted && name == "metadata.annotations":
		return lower(key, path)
	case subscripted:
		return qualified(key, path)
	case !slices.Contains(known, name):
		return field.ErrorList{field.NotSupported(at, name, known)}
	}
	return nil
}

// subscript takes metadata.labels['key'] apart.
func subscript(path string) (name, key string, ok bool) {
	rest, ok := strings.CutSuffix(path, "']")
	name, key, cut := strings.Cut(rest, "['")
	if !ok || !cut || name == "" {
		return path, "", false
	}
	return name, key, true
}

// shownResources are the amounts that variables and files may show, sorted.
var shownResources = []string{"limits.cpu", "limits.ephemeral-storage", "limits.memory", "requests.cpu",
	"requests.ephemeral-storage", "requests.memory"}

func validateResourceRef(ref *corev1.ResourceFieldSelector, path *field.Path, file bool) (errs field.ErrorList) {
	huge := strings.HasPrefix(ref.Resource, "requests.hugepages-") ||
		strings.HasPrefix(ref.Resource, "limits.hugepages-")
	switch {
	case file && ref.ContainerName == "":
		errs = append(errs, field.Required(path.Child("containerName"), ""))
	case ref.Resource == "":
		errs = append(errs, field.Required(path.Child("resource"), ""))
	case !huge && !slices.Contains(shownResources, ref.Resource):
		errs = append(errs, field.NotSupported(path.Child("resource"), ref.Resource, shownResources))
	}
	return append(errs, validateDivisor(ref.Resource, ref.Divisor, huge, path.Child("divisor"))...)
}

func validateDivisor(name string, q resource.Quantity, huge bool, path *field.Path) field.ErrorList {
	_, what, _ := strings.Cut(name, ".")
	units := "1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, 1Ei"
	switch {
	case what == "cpu":
		units = "1m and 1"
	case what == "memory":
	case what == "ephemeral-storage":
		what = "local ephemeral storage"
	case huge:
		what = "hugepages"
	default:
		return nil
	}
	one := slices.Contains(strings.FieldsFunc(units, func(r rune) bool { return r == ',' || r == ' ' }), q.String())
	if q.IsZero() || one || !slices.Contains(shownResources, name) && !huge {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name,
		fmt.Sprintf("only divisor's values %s are supported with the %s resource", units, what))}
}

func validateKeyRef(name, key string, path *field.Path) field.ErrorList {
	return append(named(name, path.Child("name"), apivalidation.NameIsDNSSubdomain),
		mustName(key, path.Child("key"), plain(utilvalidation.IsConfigMapKey))...)
}

func validateFileKey(ref *corev1.FileKeySelector, path *field.Path) field.ErrorList {
	errs := mustName(ref.Key, path.Child("key"), plain(utilvalidation.IsRelaxedEnvVarName))
	errs = append(errs, mustName(ref.VolumeName, path.Child("volumeName"), plain(utilvalidation.IsDNS1123Label))...)
	if ref.Path == "" {
		return append(errs, field.Required(path.Child("path"), ""))
	}
	return append(errs, noBacksteps(ref.Path, path.Child("path"))...)
}

func validateEnvFrom(list []corev1.EnvFromSource, path *field.Path) (errs field.ErrorList) {
	for i, from := range list {
		at, n := path.Index(i), 0
		if from.Prefix != "" {
			errs = append(errs, named(from.Prefix, at.Child("prefix"), plain(utilvalidation.IsRelaxedEnvVarName))...)
		}
		if from.ConfigMapRef != nil {
			n++
			errs = append(errs, mustName(from.ConfigMapRef.Name, at.Child("configMapRef", "name"), anyPrefix)...)
		}
		if from.SecretRef != nil {
			n++
			errs = append(errs, mustName(from.SecretRef.Name, at.Child("secretRef", "name"), anyPrefix)...)
		}
		switch n {
		case 0:
			errs = append(errs, field.Invalid(path, "", "must specify one of: `configMapRef` or `secretRef`"))
		case 2:
			errs = append(errs, field.Invalid(path, "", "may not have more than one field specified at a time"))
		}
	}
	return errs
}

// anyPrefix takes a name for the beginning of one, which may end in a dash.
func anyPrefix(name string, _ bool) []string { return apivalidation.NameIsDNSSubdomain(name, true) }

// validateFileKeys: a variable is read from a file in an empty directory.
func (p *podScope) validateFileKeys(path *field.Path) (errs field.ErrorList) {
	p.each(path, func(c *corev1.Container, at place) {
		for i := range c.Env {
			if c.Env[i].ValueFrom == nil || c.Env[i].ValueFrom.FileKeyRef == nil {
				continue
			}
			name := c.Env[i].ValueFrom.FileKeyRef.VolumeName
			of := at.path().Child("env").Index(i).Child("valueFrom", "fileKeyRef", "volumeName")
			found := slices.IndexFunc(p.spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
			if found < 0 {
				errs = append(errs, field.NotFound(of, name))
			} else if p.spec.Volumes[found].EmptyDir == nil {
				errs = append(errs, field.Invalid(of, name, "referenced volume must be of type emptyDir"))
			}
		}
	})
	return errs
}

// place is where a container stands, which nobody asks of one that is right.
type place struct {
	spec *field.Path
	list string
	i    int
}

func (at place) path() *field.Path { return at.spec.Child(at.list).Index(at.i) }

// each visits all containers in the order of the real server.
func (p *podScope) each(path *field.Path, visit func(c *corev1.Container, at place)) {
	for i := range p.spec.InitContainers {
		visit(&p.spec.InitContainers[i], place{path, "initContainers", i})
	}
	for i := range p.spec.Containers {
		visit(&p.spec.Containers[i], place{path, "containers", i})
	}
	for i := range p.spec.EphemeralContainers {
		visit((*corev1.Container)(&p.spec.EphemeralContainers[i].EphemeralContainerCommon),
			place{path, "ephemeralContainers", i})
	}
}

package fieldmanager

import (
	"reflect"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/threelaws/threelaws/fakeapi/internal/registry"
)

// mergeSchema is how server-side apply merges the fields of Go types. It is
// read off the types and their patch tags, which say the same as the OpenAPI
// of the real server but for what the tables below correct.
type mergeSchema struct {
	types []schema.TypeDef
	seen  map[reflect.Type]bool
}

// atomicTypes are structs that one manager owns as a whole.
var atomicTypes = map[reflect.Type]bool{
	reflect.TypeFor[metav1.LabelSelector]():             true,
	reflect.TypeFor[metav1.OwnerReference]():            true,
	reflect.TypeFor[corev1.ConfigMapKeySelector]():      true,
	reflect.TypeFor[corev1.SecretKeySelector]():         true,
	reflect.TypeFor[corev1.ObjectFieldSelector]():       true,
	reflect.TypeFor[corev1.ResourceFieldSelector]():     true,
	reflect.TypeFor[corev1.LocalObjectReference]():      true,
	reflect.TypeFor[corev1.ObjectReference]():           true,
	reflect.TypeFor[corev1.TypedLocalObjectReference](): true,
	reflect.TypeFor[corev1.NodeSelector]():              true,
	reflect.TypeFor[corev1.NodeSelectorTerm]():          true,
	reflect.TypeFor[corev1.SecretReference]():           true,
	reflect.TypeFor[corev1.TopologySelectorTerm]():      true,
	reflect.TypeFor[corev1.ScopeSelector]():             true,
	reflect.TypeFor[corev1.EndpointAddress]():           true,
	reflect.TypeFor[corev1.EndpointPort]():              true,
	reflect.TypeFor[corev1.FileKeySelector]():           true,

	reflect.TypeFor[admissionv1.MatchResources]():                true,
	reflect.TypeFor[admissionv1.NamedRuleWithOperations]():       true,
	reflect.TypeFor[admissionv1.ParamKind]():                     true,
	reflect.TypeFor[admissionv1.ParamRef]():                      true,
	reflect.TypeFor[admissionv1.Variable]():                      true,
	reflect.TypeFor[autoscalingv1.CrossVersionObjectReference](): true,
	reflect.TypeFor[discoveryv1.EndpointPort]():                  true,
	reflect.TypeFor[networkingv1.ServiceBackendPort]():           true,
	reflect.TypeFor[rbacv1.RoleRef]():                            true,
	reflect.TypeFor[rbacv1.Subject]():                            true,
}

// scalarTypes are Go types that are one value in JSON, or of any form.
var scalarTypes = map[reflect.Type]schema.Atom{
	reflect.TypeFor[metav1.Time]():                                  {Scalar: scalar("untyped")},
	reflect.TypeFor[metav1.MicroTime]():                             {Scalar: scalar("untyped")},
	reflect.TypeFor[resource.Quantity]():                            {Scalar: scalar("untyped")},
	reflect.TypeFor[intstr.IntOrString]():                           {Scalar: scalar("untyped")},
	reflect.TypeFor[metav1.FieldsV1]():                              anything(),
	reflect.TypeFor[runtime.RawExtension]():                         anything(),
	reflect.TypeFor[apiextensionsv1.JSON]():                         anything(),
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():       anything(),
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():        anything(),
	reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray](): anything(),
	reflect.TypeFor[[]byte]():                                       {Scalar: scalar("string")},
}

// listKeys corrects the merge keys of lists of these elements.
var listKeys = map[reflect.Type][]string{
	reflect.TypeFor[corev1.ContainerPort]():                              {"containerPort", "protocol"},
	reflect.TypeFor[corev1.ServicePort]():                                {"port", "protocol"},
	reflect.TypeFor[corev1.TopologySpreadConstraint]():                   {"topologyKey", "whenUnsatisfiable"},
	reflect.TypeFor[metav1.Condition]():                                  {"type"},
	reflect.TypeFor[apiextensionsv1.CustomResourceDefinitionCondition](): {"type"},
	reflect.TypeFor[metav1.ManagedFieldsEntry]():                         nil,
}

// keyDefaults are the values that a merge key takes when it is absent.
var keyDefaults = map[reflect.Type]map[string]any{
	reflect.TypeFor[corev1.ContainerPort](): {"protocol": "TCP"},
	reflect.TypeFor[corev1.ServicePort]():   {"protocol": "TCP"},

	reflect.TypeFor[corev1.LocalObjectReference](): {"name": ""},
}

// atomicMaps are maps that one manager owns as a whole, by type and field.
var atomicMaps = map[string]bool{
	"v1.PodSpec.nodeSelector": true, "v1.ReplicationControllerSpec.selector": true, "v1.ServiceSpec.selector": true,
	"v1.Scheduling.nodeSelector": true,
}

// fieldKeys are lists whose patch tags say otherwise than the OpenAPI, by type and field:
// the keys of their elements, none where these are a set, nil where one manager owns all.
var fieldKeys = map[string][]string{
	"v1.JobStatus.conditions":                                   nil,
	"v1.PodStatus.hostIPs":                                      nil,
	"v1.CertificateSigningRequestStatus.conditions":             {"type"},
	"v1.ResourceRequirements.claims":                            {"name"},
	"v1.ResourceStatus.resources":                               {"resourceID"},
	"v1.ResourceClaimStatus.devices":                            {"driver", "device", "pool", "shareID"},
	"v1.ValidatingAdmissionPolicyBindingSpec.validationActions": {},
	"v1.PodFailurePolicyOnExitCodesRequirement.values":          {},
	"v1.UncountedTerminatedPods.failed":                         {},
	"v1.UncountedTerminatedPods.succeeded":                      {},
	"v1.ContainerRestartRuleOnExitCodes.values":                 {},
	"v1.NodeAllocatableResourceClaimStatus.containers":          {},
	"v1.Endpoint.addresses":                                     {},
	"v1.NonResourcePolicyRule.nonResourceURLs":                  {},
	"v1.NonResourcePolicyRule.verbs":                            {},
	"v1.ResourcePolicyRule.apiGroups":                           {},
	"v1.ResourcePolicyRule.namespaces":                          {},
	"v1.ResourcePolicyRule.resources":                           {},
	"v1.ResourcePolicyRule.verbs":                               {},
	"v1.CSIDriverSpec.volumeLifecycleModes":                     {},
}

// granular are fields of an atomic type whose parts have managers of their own all the same.
var granular = map[string]bool{"v1.PersistentVolumeSpec.claimRef": true}

func scalar(s schema.Scalar) *schema.Scalar { return &s }

func anything() schema.Atom {
	any := schema.TypeRef{NamedType: new(string)}
	*any.NamedType = "any"
	return schema.Atom{
		Scalar: scalar("untyped"),
		List:   &schema.List{ElementType: any, ElementRelationship: schema.Atomic},
		Map:    &schema.Map{ElementType: any, ElementRelationship: schema.Atomic},
	}
}

// mergeType makes the merge type of a kind.
func mergeType(k *registry.Kind) typed.ParseableType {
	m := &mergeSchema{seen: map[reflect.Type]bool{}}
	m.types = append(m.types, schema.TypeDef{Name: "any", Atom: anything()})
	root := reflect.TypeOf(k.New()).Elem()
	m.named(root)
	parser := typed.Parser{Schema: schema.Schema{Types: m.types}}
	return parser.Type(typeName(root))
}

func typeName(t reflect.Type) string { return t.PkgPath() + "." + t.Name() }

// named adds the type of a struct and returns a reference to it.
func (m *mergeSchema) named(t reflect.Type) schema.TypeRef {
	name := typeName(t)
	ref := schema.TypeRef{NamedType: &name}
	if m.seen[t] {
		return ref
	}
	m.seen[t] = true
	at := len(m.types)
	m.types = append(m.types, schema.TypeDef{Name: name})
	def := &schema.Map{Fields: m.fields(t)}
	if atomicTypes[t] {
		def.ElementRelationship = schema.Atomic
	}
	m.types[at].Atom = schema.Atom{Map: def}
	return ref
}

func (m *mergeSchema) fields(t reflect.Type) (fields []schema.StructField) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		if name == "" {
			inner := f.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			if f.Anonymous && inner.Kind() == reflect.Struct {
				fields = append(fields, m.fields(inner)...)
			}
			continue
		}
		field := schema.StructField{Name: name, Type: m.ref(f.Type, f.Tag, t.String()+"."+name)}
		if d, ok := keyDefaults[t][name]; ok {
			field.Default = d
		} else if !strings.Contains(f.Tag.Get("json"), "omitempty") {
			field.Default = zeroKey(f.Type)
		}
		fields = append(fields, field)
	}
	return fields
}

// zeroKey is the value of a required field that is absent.
func zeroKey(t reflect.Type) any {
	switch t.Kind() {
	case reflect.String:
		return ""
	case reflect.Int32, reflect.Int64:
		return 0
	}
	return nil
}

// ref describes the type of a field.
func (m *mergeSchema) ref(t reflect.Type, tag reflect.StructTag, path string) schema.TypeRef {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if a, ok := scalarTypes[t]; ok {
		return schema.TypeRef{Inlined: a}
	}
	switch t.Kind() {
	case reflect.Struct:
		ref := m.named(t)
		if atomicTypes[t] {
			how := schema.Atomic
			if granular[path] {
				how = schema.Separable
			}
			ref.ElementRelationship = &how
		}
		return ref
	case reflect.Slice, reflect.Array:
		return schema.TypeRef{Inlined: schema.Atom{List: m.list(t.Elem(), tag, path)}}
	case reflect.Map:
		def := &schema.Map{ElementType: m.ref(t.Elem(), "", "")}
		if atomicMaps[path] {
			def.ElementRelationship = schema.Atomic
		}
		return schema.TypeRef{Inlined: schema.Atom{Map: def}}
	case reflect.Bool:
		return schema.TypeRef{Inlined: schema.Atom{Scalar: scalar(schema.Boolean)}}
	case reflect.String:
		return schema.TypeRef{Inlined: schema.Atom{Scalar: scalar(schema.String)}}
	case reflect.Interface:
		return schema.TypeRef{Inlined: anything()}
	}
	return schema.TypeRef{Inlined: schema.Atom{Scalar: scalar(schema.Numeric)}}
}

func (m *mergeSchema) list(elem reflect.Type, tag reflect.StructTag, path string) *schema.List {
	def := &schema.List{ElementType: m.ref(elem, "", ""), ElementRelationship: schema.Atomic}
	if keys, ok := fieldKeys[path]; ok {
		if keys != nil {
			def.ElementRelationship = schema.Associative
		}
		if len(keys) > 0 {
			def.Keys = keys
		}
		return def
	}
	keys, corrected := listKeys[elem]
	key := tag.Get("patchMergeKey")
	switch {
	case corrected && len(keys) == 0:
	case corrected:
		def.ElementRelationship, def.Keys = schema.Associative, keys
	case key != "":
		def.ElementRelationship, def.Keys = schema.Associative, []string{key}
	case strings.Contains(tag.Get("patchStrategy"), "merge"):
		def.ElementRelationship = schema.Associative
	}
	return def
}

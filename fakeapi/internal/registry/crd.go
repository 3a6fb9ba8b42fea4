package registry

import (
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	admissiondefaults "k8s.io/kubernetes/pkg/apis/admissionregistration/v1"
	coredefaults "k8s.io/kubernetes/pkg/apis/core/v1"
	schedulingdefaults "k8s.io/kubernetes/pkg/apis/scheduling/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/crd"
	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

var customResourceDefinitions = kind[crd.Definition, apiextensionsv1.CustomResourceDefinitionList](
	apiextensionsv1.SchemeGroupVersion, validation.Judges{
		Create: func(obj, _ runtime.Object, _ bool) (field.ErrorList, []string) {
			d := obj.(*crd.Definition)
			return crd.Validate(d), crd.UnknownFormats(d, nil)
		},
		Update: func(obj, old runtime.Object, _ bool) (field.ErrorList, []string) {
			d, was := obj.(*crd.Definition), old.(*crd.Definition)
			return crd.ValidateUpdate(d, was), crd.UnknownFormats(d, was)
		},
		Status: func(obj, old runtime.Object, _ bool) (field.ErrorList, []string) {
			return crd.ValidateStatus(obj.(*crd.Definition), old.(*crd.Definition)), nil
		},
	}, &Row{
		Counts: "Spec", ReturnDeleted: true, MustVersion: true,
		Default:       On(apiextensionsv1.SetObjectDefaults_CustomResourceDefinition),
		Prefix:        "apiextensions.k8s.io/customresourcedefinitions",
		PrepareCreate: On(noteStorageVersion),
		Main:          Update{Prepare: Over(func(d, _ *crd.Definition) { noteStorageVersion(d) }), Keeps: true},
		Terminate:     terminateDefinition,
	})

// noteStorageVersion adds the storage version to status.storedVersions.
func noteStorageVersion(d *crd.Definition) {
	for _, v := range d.Spec.Versions {
		if !v.Storage {
			continue
		}
		if have := d.Status.StoredVersions; !slices.Contains(have, v.Name) {
			d.Status.StoredVersions = append(have[:len(have):len(have)], v.Name)
		}
		return
	}
}

func terminateDefinition(obj runtime.Object, _ *metav1.DeleteOptions, now time.Time) runtime.Object {
	marked := obj.(*crd.Definition).DeepCopy()
	at := metadata.Seconds(now)
	marked.DeletionTimestamp = &at
	if !slices.Contains(marked.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer) {
		marked.Finalizers = append(marked.Finalizers, apiextensionsv1.CustomResourceCleanupFinalizer)
	}
	crd.SetCondition(marked, now, apiextensionsv1.Terminating, apiextensionsv1.ConditionTrue, "InstanceDeletionPending",
		"CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon")
	return marked
}

// The configurations of admission webhooks, and admission policies.

var validatingWebhooks = kind[admissionv1.ValidatingWebhookConfiguration,
	admissionv1.ValidatingWebhookConfigurationList](admissionv1.SchemeGroupVersion, checked(validation.ValidatingWebhooks),
	&Row{
		Counts: "Webhooks", Exactly: true, MustVersion: true, Canonicalize: asStored,
		Default: On(admissiondefaults.SetObjectDefaults_ValidatingWebhookConfiguration),
	})

var mutatingWebhooks = kind[admissionv1.MutatingWebhookConfiguration,
	admissionv1.MutatingWebhookConfigurationList](admissionv1.SchemeGroupVersion, checked(validation.MutatingWebhooks),
	&Row{
		Counts: "Webhooks", Exactly: true, MustVersion: true, Canonicalize: asStored,
		Default: On(admissiondefaults.SetObjectDefaults_MutatingWebhookConfiguration),
	})

func checked[T runtime.Object](check func(T) field.ErrorList) validation.Judges {
	judge := func(obj, _ runtime.Object, _ bool) (field.ErrorList, []string) {
		m := metadata.Of(obj)
		errs := append(apivalidation.ValidateObjectMetaAccessor(m, false, apivalidation.NameIsDNSSubdomain,
			metadata.Path), check(obj.(T))...)
		const reserved = ".static.k8s.io"
		if len(errs) > 0 || !strings.HasSuffix(m.GetName(), reserved) {
			return errs, nil
		}
		return nil, []string{fmt.Sprintf("metadata.name: names ending with %q are reserved for static manifest-based "+
			"configurations and cannot be managed via the API", reserved)}
	}
	return validation.Judges{Create: judge, Update: judge}
}

var validatingPolicies = kind[admissionv1.ValidatingAdmissionPolicy, admissionv1.ValidatingAdmissionPolicyList](
	admissionv1.SchemeGroupVersion, validatingPolicyRules(), &Row{
		Counts: "Spec", MustVersion: true, StatusOnly: true,
		Default: On(admissiondefaults.SetObjectDefaults_ValidatingAdmissionPolicy),
	})

func validatingPolicyRules() validation.Judges {
	rules := checked(validation.ValidatingPolicy)
	rules.Status = func(obj, _ runtime.Object, _ bool) (field.ErrorList, []string) {
		return validation.ValidatingPolicyStatus(obj.(*admissionv1.ValidatingAdmissionPolicy)), nil
	}
	return rules
}

var validatingPolicyBindings = kind[admissionv1.ValidatingAdmissionPolicyBinding,
	admissionv1.ValidatingAdmissionPolicyBindingList](admissionv1.SchemeGroupVersion,
	checked(validation.ValidatingBinding), &Row{
		Counts: "Spec", MustVersion: true,
		Default: On(admissiondefaults.SetObjectDefaults_ValidatingAdmissionPolicyBinding),
	})

var mutatingPolicies = kind[admissionv1.MutatingAdmissionPolicy, admissionv1.MutatingAdmissionPolicyList](
	admissionv1.SchemeGroupVersion, checked(validation.MutatingPolicy), &Row{
		Counts: "Spec", MustVersion: true, Default: On(admissiondefaults.SetObjectDefaults_MutatingAdmissionPolicy),
	})

var mutatingPolicyBindings = kind[admissionv1.MutatingAdmissionPolicyBinding,
	admissionv1.MutatingAdmissionPolicyBindingList](admissionv1.SchemeGroupVersion, checked(validation.MutatingBinding),
	&Row{
		Counts: "Spec", MustVersion: true,
		Default: On(admissiondefaults.SetObjectDefaults_MutatingAdmissionPolicyBinding),
	})

var disruptionBudgets = kind[policyv1.PodDisruptionBudget, policyv1.PodDisruptionBudgetList](
	policyv1.SchemeGroupVersion, validation.PodDisruptionBudget, &Row{Counts: "Spec", MustVersion: true})

var limitRanges = kind[corev1.LimitRange, corev1.LimitRangeList](corev1.SchemeGroupVersion, validation.LimitRange,
	&Row{
		CreateOnUpdate: true, NamesItself: true, Default: On(coredefaults.SetObjectDefaults_LimitRange),
		Canonicalize: On(func(l *corev1.LimitRange) { l.Spec.Limits = orNil(l.Spec.Limits) }),
	})

var resourceQuotas = kind[corev1.ResourceQuota, corev1.ResourceQuotaList](corev1.SchemeGroupVersion,
	validation.ResourceQuota, &Row{ReturnDeleted: true, Default: On(coredefaults.SetObjectDefaults_ResourceQuota)})

var priorityClasses = kind[schedulingv1.PriorityClass, schedulingv1.PriorityClassList](
	schedulingv1.SchemeGroupVersion, validation.PriorityClass, &Row{
		Default:       On(schedulingdefaults.SetObjectDefaults_PriorityClass),
		PrepareCreate: On(func(c *schedulingv1.PriorityClass) { c.Generation = 1 }),
	})

var runtimeClasses = kind[nodev1.RuntimeClass, nodev1.RuntimeClassList](nodev1.SchemeGroupVersion,
	validation.RuntimeClass, &Row{CreateOnUpdate: true, MustVersion: true})

package validation

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// StorageClass checks provisioner, parameters, policy, mode and topologies.
func StorageClass(c *storagev1.StorageClass) field.ErrorList {
	errs := validateProvisioner(c.Provisioner, field.NewPath("provisioner"))
	errs = append(errs, validateParameters(c.Parameters, false, field.NewPath("parameters"))...)
	if p := c.ReclaimPolicy; p != nil && *p != "" {
		errs = append(errs, among(p, field.NewPath("reclaimPolicy"), corev1.PersistentVolumeReclaimDelete,
			corev1.PersistentVolumeReclaimRetain)...)
	}
	errs = append(errs, among(c.VolumeBindingMode, field.NewPath("volumeBindingMode"),
		storagev1.VolumeBindingImmediate, storagev1.VolumeBindingWaitForFirstConsumer)...)
	// The real server compares with as many empty terms as there are, too.
	seen := make([]map[string][]string, len(c.AllowedTopologies))
	for i := range c.AllowedTopologies {
		path := field.NewPath("allowedTopologies").Index(i)
		term, own := validateTopology(&c.AllowedTopologies[i], path)
		errs = append(errs, own...)
		for _, other := range seen {
			if len(term)+len(other) == 0 || reflect.DeepEqual(term, other) {
				errs = append(errs, field.Duplicate(path.Child("matchLabelExpressions"), ""))
			}
		}
		seen = append(seen, term)
	}
	return errs
}

// StorageClassUpdate checks what may not change.
func StorageClassUpdate(c, old *storagev1.StorageClass) field.ErrorList {
	errs := apivalidation.ValidateImmutableField(c.Parameters, old.Parameters, field.NewPath("parameters"))
	errs = append(errs, apivalidation.ValidateImmutableField(c.Provisioner, old.Provisioner,
		field.NewPath("provisioner"))...)
	errs = append(errs, apivalidation.ValidateImmutableField(c.ReclaimPolicy, old.ReclaimPolicy,
		field.NewPath("reclaimPolicy"))...)
	errs = append(errs, apivalidation.ValidateImmutableField(c.VolumeBindingMode, old.VolumeBindingMode,
		field.NewPath("volumeBindingMode"))...)
	return append(StorageClass(c), errs...)
}

func validateProvisioner(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	return lower(name, path)
}

func validateParameters(params map[string]string, required bool, path *field.Path) (errs field.ErrorList) {
	const most, bytes = 512, 256 * 1024
	if len(params) > most {
		return field.ErrorList{field.TooLong(path, "", most)}
	}
	size := 0
	for k, v := range params { //detcheck:ordered a sum
		size += len(k) + len(v)
	}
	if _, ok := params[""]; ok {
		errs = append(errs, field.Invalid(path, "", "field can not be empty."))
	}
	if size > bytes {
		errs = append(errs, field.TooLong(path, "", bytes))
	}
	if required && len(params) == 0 {
		errs = append(errs, field.Required(path, "must contain at least one key/value pair"))
	}
	return errs
}

// validateTopology returns the sorted values that a term has for each key, too.
func validateTopology(t *corev1.TopologySelectorTerm, path *field.Path) (map[string][]string, field.ErrorList) {
	var errs field.ErrorList
	term := map[string][]string{}
	for i := range t.MatchLabelExpressions {
		one, at := &t.MatchLabelExpressions[i], path.Child("matchLabelExpressions").Index(i)
		if len(one.Values) == 0 {
			errs = append(errs, field.Required(at.Child("values"), ""))
		}
		var values []string
		for j, v := range one.Values {
			if slices.Contains(values, v) {
				errs = append(errs, field.Duplicate(at.Child("values").Index(j), v))
				continue
			}
			values = append(values, v)
		}
		errs = append(errs, metav1validation.ValidateLabelName(one.Key, at.Child("key"))...)
		if _, twice := term[one.Key]; twice {
			errs = append(errs, field.Duplicate(at.Child("key"), one.Key))
		}
		slices.Sort(values)
		term[one.Key] = values
	}
	return term, errs
}

// CSIDriver checks what a driver says of itself.
func CSIDriver(d *storagev1.CSIDriver) (errs field.ErrorList) {
	s := &d.Spec
	errs = among(s.FSGroupPolicy, specPath.Child("fsGroupPolicy"), storagev1.FileFSGroupPolicy,
		storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	seen := map[string]bool{}
	for i, t := range s.TokenRequests {
		path := specPath.Child("tokenRequests").Index(i)
		if seen[t.Audience] {
			errs = append(errs, field.Duplicate(path.Child("audience"), t.Audience))
			continue
		}
		if seen[t.Audience] = true; t.ExpirationSeconds == nil {
			continue
		}
		if *t.ExpirationSeconds < 600 {
			errs = append(errs, field.Invalid(path.Child("expirationSeconds"), *t.ExpirationSeconds,
				"may not specify a duration less than 10 minutes"))
		}
		if *t.ExpirationSeconds > 1<<32 {
			errs = append(errs, field.Invalid(path.Child("expirationSeconds"), *t.ExpirationSeconds,
				"may not specify a duration larger than 2^32 seconds"))
		}
	}
	for i := range s.VolumeLifecycleModes {
		errs = append(errs, among(&s.VolumeLifecycleModes[i], specPath.Child("volumeLifecycleModes"),
			storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral)...)
	}
	if p := s.NodeAllocatableUpdatePeriodSeconds; p != nil && *p < 10 {
		errs = append(errs, field.Invalid(specPath.Child("nodeAllocatableUpdatePeriodSeconds"), *p,
			"must be greater than or equal to 10 seconds"))
	}
	if p := s.ServiceAccountTokenInSecrets; p != nil && len(s.TokenRequests) == 0 {
		errs = append(errs, field.Invalid(specPath.Child("serviceAccountTokenInSecrets"), p,
			"serviceAccountTokenInSecrets is set but no tokenRequests are specified"))
	}
	return errs
}

// CSIDriverUpdate checks what may not change, too.
func CSIDriverUpdate(d, old *storagev1.CSIDriver) field.ErrorList {
	errs := append(CSIDriver(d), apivalidation.ValidateImmutableField(d.Spec.AttachRequired, old.Spec.AttachRequired,
		specPath.Child("attachedRequired"))...)
	return append(errs, apivalidation.ValidateImmutableField(d.Spec.VolumeLifecycleModes,
		old.Spec.VolumeLifecycleModes, specPath.Child("volumeLifecycleModes"))...)
}

// CSICapacity checks the selector, class and capacity of a driver's storage.
func CSICapacity(c *storagev1.CSIStorageCapacity) field.ErrorList {
	errs := metav1validation.ValidateLabelSelector(c.NodeTopology, metav1validation.LabelSelectorValidationOptions{},
		field.NewPath("nodeTopology"))
	errs = append(errs, named(c.StorageClassName, field.NewPath("storageClassName"),
		apivalidation.NameIsDNSSubdomain)...)
	if c.Capacity != nil && c.Capacity.Sign() < 0 {
		errs = append(errs, field.Invalid(field.NewPath("capacity"), c.Capacity.String(),
			apivalidation.IsNegativeErrorMsg))
	}
	return errs
}

// CSICapacityUpdate checks that what is measured stays the same, too.
func CSICapacityUpdate(c, old *storagev1.CSIStorageCapacity) field.ErrorList {
	errs := CSICapacity(c)
	if !equality.Semantic.DeepEqual(c.NodeTopology, old.NodeTopology) {
		errs = append(errs, field.Invalid(field.NewPath("nodeTopology"), c.NodeTopology, immutable))
	}
	if c.StorageClassName != old.StorageClassName {
		errs = append(errs, field.Invalid(field.NewPath("storageClassName"), c.StorageClassName, immutable))
	}
	return errs
}

const immutable = "field is immutable"

// AttributesClass checks a class of volume attributes.
func AttributesClass(c *storagev1.VolumeAttributesClass) field.ErrorList {
	return append(validateProvisioner(c.DriverName, field.NewPath("driverName")),
		validateParameters(c.Parameters, true, field.NewPath("parameters"))...)
}

// AttributesClassUpdate checks that nothing of it changes.
func AttributesClassUpdate(c, old *storagev1.VolumeAttributesClass) (errs field.ErrorList) {
	if c.DriverName != old.DriverName {
		errs = append(errs, field.Forbidden(field.NewPath("driverName"), "updates to driverName are forbidden."))
	}
	if !maps.Equal(c.Parameters, old.Parameters) {
		errs = append(errs, field.Forbidden(field.NewPath("parameters"), "updates to parameters are forbidden."))
	}
	return errs
}

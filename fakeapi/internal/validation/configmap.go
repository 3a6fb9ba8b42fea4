package validation

import (
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ConfigMap checks the keys of a ConfigMap and how large it is.
func ConfigMap(c *corev1.ConfigMap) (errs field.ErrorList) {
	total := 0
	for _, key := range slices.Sorted(maps.Keys(c.Data)) {
		for _, msg := range utilvalidation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key, msg))
		}
		if _, ok := c.BinaryData[key]; ok {
			errs = append(errs, field.Invalid(field.NewPath("data").Key(key), key,
				"duplicate of key present in binaryData"))
		}
		total += len(c.Data[key])
	}
	for _, key := range slices.Sorted(maps.Keys(c.BinaryData)) {
		for _, msg := range utilvalidation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(field.NewPath("binaryData").Key(key), key, msg))
		}
		total += len(c.BinaryData[key])
	}
	if total > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(field.NewPath(""), "", corev1.MaxSecretSize))
	}
	return errs
}

// ConfigMapUpdate guards one that says that it is immutable.
func ConfigMapUpdate(c, old *corev1.ConfigMap) (errs field.ErrorList) {
	if old.Immutable != nil && *old.Immutable {
		const msg = "field is immutable when `immutable` is set"
		if c.Immutable == nil || !*c.Immutable {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), msg))
		}
		if !reflect.DeepEqual(c.Data, old.Data) {
			errs = append(errs, field.Forbidden(field.NewPath("data"), msg))
		}
		if !reflect.DeepEqual(c.BinaryData, old.BinaryData) {
			errs = append(errs, field.Forbidden(field.NewPath("binaryData"), msg))
		}
	}
	return append(errs, ConfigMap(c)...)
}

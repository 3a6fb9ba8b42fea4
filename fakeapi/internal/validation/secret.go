package validation

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Secret checks keys, size, and what a type has to have.
func Secret(s *corev1.Secret) (errs field.ErrorList) {
	path, size := field.NewPath("data"), 0
	for _, key := range slices.Sorted(maps.Keys(s.Data)) {
		for _, msg := range utilvalidation.IsConfigMapKey(key) {
			errs = append(errs, field.Invalid(path.Key(key), key, msg))
		}
		size += len(s.Data[key])
	}
	if size > corev1.MaxSecretSize {
		errs = append(errs, field.TooLong(path, "", corev1.MaxSecretSize))
	}
	switch s.Type {
	case corev1.SecretTypeServiceAccountToken:
		if s.Annotations[corev1.ServiceAccountNameKey] == "" {
			errs = append(errs, field.Required(
				field.NewPath("metadata", "annotations").Key(corev1.ServiceAccountNameKey), ""))
		}
	case corev1.SecretTypeDockercfg:
		errs = append(errs, hasJSON(s, corev1.DockerConfigKey)...)
	case corev1.SecretTypeDockerConfigJson:
		errs = append(errs, hasJSON(s, corev1.DockerConfigJsonKey)...)
	case corev1.SecretTypeBasicAuth:
		_, user := s.Data[corev1.BasicAuthUsernameKey]
		if _, password := s.Data[corev1.BasicAuthPasswordKey]; !user && !password {
			errs = append(errs, field.Required(path.Key(corev1.BasicAuthUsernameKey), ""),
				field.Required(path.Key(corev1.BasicAuthPasswordKey), ""))
		}
	case corev1.SecretTypeSSHAuth:
		if len(s.Data[corev1.SSHAuthPrivateKey]) == 0 {
			errs = append(errs, field.Required(path.Key(corev1.SSHAuthPrivateKey), ""))
		}
	case corev1.SecretTypeTLS:
		for _, key := range [...]string{corev1.TLSCertKey, corev1.TLSPrivateKeyKey} {
			if _, ok := s.Data[key]; !ok {
				errs = append(errs, field.Required(path.Key(key), ""))
			}
		}
	}
	return errs
}

func hasJSON(s *corev1.Secret, key string) field.ErrorList {
	path := field.NewPath("data").Key(key)
	text, ok := s.Data[key]
	if !ok {
		return field.ErrorList{field.Required(path, "")}
	}
	if err := json.Unmarshal(text, &map[string]any{}); err != nil {
		return field.ErrorList{field.Invalid(path, "<secret contents redacted>", err.Error())}
	}
	return nil
}

// SecretUpdate checks what may not change, and the whole.
func SecretUpdate(s, old *corev1.Secret) field.ErrorList {
	errs := apivalidation.ValidateImmutableField(s.Type, old.Type, field.NewPath("type"))
	if old.Immutable != nil && *old.Immutable {
		const why = "field is immutable when `immutable` is set"
		if s.Immutable == nil || !*s.Immutable {
			errs = append(errs, field.Forbidden(field.NewPath("immutable"), why))
		}
		if !reflect.DeepEqual(s.Data, old.Data) {
			errs = append(errs, field.Forbidden(field.NewPath("data"), why))
		}
	}
	return append(errs, Secret(s)...)
}

// PodTemplate checks a template that is an object of its own.
func PodTemplate(t *corev1.PodTemplate) field.ErrorList {
	return validateTemplate(&t.Template, field.NewPath("template"))
}

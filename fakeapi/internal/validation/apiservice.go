package validation

import (
	"fmt"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/metadata"
)

// APIService checks its name, its priorities and where its server is.
func APIService(a *apiregistrationv1.APIService) (errs field.ErrorList) {
	s, want := &a.Spec, a.Spec.Version+"."+a.Spec.Group
	errs = apivalidation.ValidateObjectMetaAccessor(a, false, func(name string, prefix bool) []string {
		if msgs := metadata.PathSegment(name, prefix); len(msgs) > 0 || name == want {
			return msgs
		}
		return []string{fmt.Sprintf("must be `spec.version+\".\"+spec.group`: %q", want)}
	}, metadata.Path)
	if s.Group == "" && s.Version != "v1" {
		errs = append(errs, field.Required(specPath.Child("group"),
			"only v1 may have an empty group and it better be legacy kube"))
	}
	if s.Group != "" {
		errs = append(errs, named(s.Group, specPath.Child("group"), plain(utilvalidation.IsDNS1123Subdomain))...)
	}
	errs = append(errs, named(s.Version, specPath.Child("version"), plain(utilvalidation.IsDNS1035Label))...)
	if s.GroupPriorityMinimum <= 0 || s.GroupPriorityMinimum > 20000 {
		errs = append(errs, field.Invalid(specPath.Child("groupPriorityMinimum"), s.GroupPriorityMinimum,
			"must be positive and less than 20000"))
	}
	if s.VersionPriority <= 0 || s.VersionPriority > 1000 {
		errs = append(errs, field.Invalid(specPath.Child("versionPriority"), s.VersionPriority,
			"must be positive and less than 1000"))
	}
	return append(errs, validateAPIServer(s)...)
}

func validateAPIServer(s *apiregistrationv1.APIServiceSpec) (errs field.ErrorList) {
	insecure, service := specPath.Child("insecureSkipTLSVerify"), specPath.Child("service")
	if s.Service == nil {
		if len(s.CABundle) != 0 {
			errs = append(errs, field.Invalid(specPath.Child("caBundle"), fmt.Sprintf("%d bytes", len(s.CABundle)),
				"local APIServices may not have a caBundle"))
		}
		if s.InsecureSkipTLSVerify {
			errs = append(errs, field.Invalid(insecure, true, "local APIServices may not have insecureSkipTLSVerify"))
		}
		return errs
	}
	errs = append(required(s.Service.Namespace, service.Child("namespace")),
		required(s.Service.Name, service.Child("name"))...)
	port := int32(0)
	if s.Service.Port != nil {
		port = *s.Service.Port
	}
	if msgs := utilvalidation.IsValidPortNum(int(port)); msgs != nil {
		errs = append(errs, field.Invalid(service.Child("port"), port, "port is not valid: "+strings.Join(msgs, ", ")))
	}
	if s.InsecureSkipTLSVerify && len(s.CABundle) > 0 {
		errs = append(errs, field.Invalid(insecure, true, "may not be true if caBundle is present"))
	}
	return errs
}

// APIServiceStatus checks what the conditions say.
func APIServiceStatus(a, _ *apiregistrationv1.APIService) (errs field.ErrorList) {
	for i := range a.Status.Conditions {
		status := a.Status.Conditions[i].Status
		if status != apiregistrationv1.ConditionTrue && status != apiregistrationv1.ConditionFalse &&
			status != apiregistrationv1.ConditionUnknown {
			errs = append(errs, field.NotSupported(field.NewPath("status", "conditions").Index(i).Child("status"),
				status,
				[]string{"True", "False", "Unknown"}))
		}
	}
	return errs
}

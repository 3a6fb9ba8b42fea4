package validation

import (
	"net/url"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	core "k8s.io/kubernetes/pkg/apis/core"
	conv "k8s.io/kubernetes/pkg/apis/core/v1"
	v "k8s.io/kubernetes/pkg/apis/core/validation"
)

// LogOptions reads the query of a request for a log. The error says that it cannot be read, errs what is wrong
// with it.
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

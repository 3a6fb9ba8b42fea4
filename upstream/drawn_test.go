package upstream_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
)

// drawn is what two servers gave a Service each in its own way, as text in JSON: addresses
// and ports of the one, and what the other gave instead.
type drawn map[string]string

// note takes note of what both servers gave a Service that was not asked for.
func (d drawn) note(sent string, own, real runtime.Object) {
	mine, ok := own.(*corev1.Service)
	yours, both := real.(*corev1.Service)
	if !ok || !both {
		return
	}
	pair := func(a, b string) {
		if !strings.Contains(sent, a) && !strings.Contains(sent, b) {
			d[a] = b
		}
	}
	if len(mine.Spec.ClusterIPs) == len(yours.Spec.ClusterIPs) {
		for i, ip := range mine.Spec.ClusterIPs {
			pair(fmt.Sprintf("%q", ip), fmt.Sprintf("%q", yours.Spec.ClusterIPs[i]))
		}
	}
	if len(mine.Spec.Ports) == len(yours.Spec.Ports) {
		for i := range mine.Spec.Ports {
			if a, b := mine.Spec.Ports[i].NodePort, yours.Spec.Ports[i].NodePort; a != 0 && b != 0 {
				pair(fmt.Sprint(a), fmt.Sprint(b))
			}
		}
	}
	if a, b := mine.Spec.HealthCheckNodePort, yours.Spec.HealthCheckNodePort; a != 0 && b != 0 {
		pair(fmt.Sprint(a), fmt.Sprint(b))
	}
}

var values = regexp.MustCompile(`"[^"]*"|\b\d{5}\b`)

// theirs is a text of the one server as the other would have it.
func (d drawn) theirs(text string) string {
	if len(d) == 0 {
		return text
	}
	return values.ReplaceAllStringFunc(text, func(v string) string {
		if other, ok := d[v]; ok {
			return other
		}
		return v
	})
}

// object is an object of the one server as the other would have it.
func (d drawn) object(obj runtime.Object) runtime.Object {
	s, ok := obj.(*corev1.Service)
	if !ok || len(d) == 0 {
		return obj
	}
	raw, _ := json.Marshal(s)
	other := &corev1.Service{}
	if err := json.Unmarshal([]byte(d.theirs(string(raw))), other); err != nil {
		panic(err)
	}
	return other
}

// answer is an answer of the one server as the other would give it.
func (d drawn) answer(r fakeapi.Response) fakeapi.Response {
	if r.Object != nil {
		r.Object = d.object(r.Object)
	}
	if r.Err != nil && r.Err.ErrStatus.Details != nil && len(d) > 0 {
		r.Err = &apierrors.StatusError{ErrStatus: *r.Err.ErrStatus.DeepCopy()}
		for i := range r.Err.ErrStatus.Details.Causes {
			c := &r.Err.ErrStatus.Details.Causes[i]
			c.Message = d.theirs(c.Message)
		}
	}
	return r
}

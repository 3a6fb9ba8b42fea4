package job

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Before ControllerRef the key identified a Job's expectations, since then the uid: a recreated Job does not wait for
// those of the old one.
func TestWhoseExpectationsTheyAre(t *testing.T) {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", UID: "u"}}
	for g, want := range map[Era]types.UID{Selector: "", Gated: "", ControllerRef: "u", Current: "u"} {
		if got := (&reconciler{options: &Options{Era: g}}).owner(j); got != want {
			t.Errorf("%s: %q, want %q", g, got, want)
		}
	}
}

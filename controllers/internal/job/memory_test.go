package job

import (
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What a Job expects is known by its key alone before ControllerRef, and by its uid since: one made again
// under the name of another does not wait for what that one expected.
func TestWhoseExpectationsTheyAre(t *testing.T) {
	j := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "j", UID: "u"}}
	for g, want := range map[Era]types.UID{Selector: "", Gated: "", ControllerRef: "u", Current: "u"} {
		if got := (&reconciler{options: &Options{Era: g}}).owner(j); got != want {
			t.Errorf("%s: %q, want %q", g, got, want)
		}
	}
}

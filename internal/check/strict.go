package check

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim/law"
)

// other is a label value that no selector matches, and the name of labels and annotations that users add.
const other = "threelaws-other"

// marksStay is the law of Operator.Strict.
var marksStay = &law.Invariant{ID: "others-marks-stay", When: law.AtWrite,
	Sentence: "A label or annotation that a user adds to an object stays.",
	Check: func(f *law.Facts) string {
		if f.Before == nil || f.After == nil {
			return ""
		}
		before, after := f.Before.(metav1.Object), f.After.(metav1.Object)
		for _, has := range []struct {
			what        string
			before, now map[string]string
		}{{"label", before.GetLabels(), after.GetLabels()}, {"annotation", before.GetAnnotations(), after.GetAnnotations()}} {
			if has.before[other] != "" && has.now[other] == "" {
				return "the write removes the " + has.what + " " + other + ", which the user added to " + before.GetName()
			}
		}
		return ""
	}}

// Package conversion converts the selector fields of a Job between extensions/v1beta1 and batch/v1, by the table in the
// Job selector proposal (Conversion; JOBSEL-7).
//
// In the old version the user set the selector unless autoSelector was true. In the new version the server generates
// the selector unless manualSelector is true. So the fields have opposite meanings. Both default to false. A converted
// field is set only if it is true, so that users of one version never see the other version's field. After a
// conversion, an explicit false looks like a missing value.
package conversion

// Old is the field autoSelector of extensions/v1beta1. New is the field manualSelector of batch/v1. Nil means not set.
type (
	Old struct{ AutoSelector *bool }
	New struct{ ManualSelector *bool }
)

func FromOld(o Old) New { return New{opposite(o.AutoSelector)} }

func ToOld(n New) Old { return Old{opposite(n.ManualSelector)} }

// Generates reports whether the server generates the selector of a Job with this field.
func (o Old) Generates() bool { return o.AutoSelector != nil && *o.AutoSelector }

// Generates reports whether the server generates the selector of a Job with this field.
func (n New) Generates() bool { return n.ManualSelector == nil || !*n.ManualSelector }

// opposite negates a field whose default is false. It returns nil in place of false.
func opposite(field *bool) *bool {
	if field != nil && *field {
		return nil
	}
	yes := true
	return &yes
}

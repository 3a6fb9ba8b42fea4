// Package conversion is the table by which a Job of the old API version,
// extensions/v1beta1, became one of batch/v1, and back, as far as its selector goes.
//
// In the old version a selector was the user's own unless autoSelector said that the
// server was to make one; in the later one the server makes it unless manualSelector
// says that it is the user's own. The fields have opposite meanings, and each is false
// where it is not set. (Job selector proposal, Conversion; JOBSEL-7.)
//
// Of a field that is false the conversion makes one that is not set, so that who has
// only used one version never sees the field of the other. What is lost by that is
// whether it was set to false or not set at all.
package conversion

// Old is the field of extensions/v1beta1: autoSelector. New is the one of batch/v1:
// manualSelector. Nil is not set.
type (
	Old struct{ AutoSelector *bool }
	New struct{ ManualSelector *bool }
)

// FromOld makes of the old field the new one.
func FromOld(o Old) New { return New{opposite(o.AutoSelector)} }

// ToOld makes of the new field the old one.
func ToOld(n New) Old { return Old{opposite(n.ManualSelector)} }

// Generates reports whether the server makes the selector of a Job of the old version.
func (o Old) Generates() bool { return o.AutoSelector != nil && *o.AutoSelector }

// Generates reports whether the server makes the selector of a Job.
func (n New) Generates() bool { return n.ManualSelector == nil || !*n.ManualSelector }

// opposite negates a field that is false where it is not set, and leaves unset what is
// false then.
func opposite(field *bool) *bool {
	if field != nil && *field {
		return nil
	}
	yes := true
	return &yes
}

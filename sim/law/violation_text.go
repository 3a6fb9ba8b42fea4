// Texts that several checks share.

package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/sim"
)

// CutShort is the Reason of a Settled record if only timers of retries were left when the time of the world was
// over.
const CutShort = "cut short"

// ownedBy describes a ControllerRef: "owned by rs/web-b", "owned by none".
func ownedBy(ref *metav1.OwnerReference) string {
	if ref == nil {
		return "owned by none"
	}
	return "owned by " + refName(ref)
}

func refName(ref *metav1.OwnerReference) string { return sim.Short(ref.Kind) + "/" + ref.Name }

// what describes the verb of a record.
func what(r *sim.Record) string {
	if r.Subresource != "" {
		return r.Verb + " of " + r.Subresource
	}
	return r.Verb
}

package law

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// parted are the objects whose deletion was asked for, or done, since the world was last at
// rest: what else is going, or gone, was so then. It is kept for programs, whose worlds are
// never searched exhaustively, so it is no part of a state.
type parted map[types.UID]bool

func (p parted) fold(before metav1.Object, ends bool) {
	if p != nil && before != nil && ends {
		p[before.GetUID()] = true
	}
}

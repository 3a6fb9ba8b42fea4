// Package controllermanager runs kube-controller-manager's own command, of
// k8s.io/kubernetes v1.36.3 with all its controllers, in the process of a test: against
// a server of package fakeapi, over HTTP. That is all the proof there is that
// the server is enough of one for them.
package controllermanager

import (
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
)

var _ = app.NewControllerManagerCommand

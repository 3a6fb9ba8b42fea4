package cli

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/controllers/kubelet"
	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim/host"
)

// lifelike replaces the kubelet of the table by one whose pods look as they do on a node,
// and sees to it that there is one. Where no scheduler runs the kubelet puts pods there
// itself.
func lifelike(s *site, chosen []host.Controller) []host.Controller {
	at := slices.IndexFunc(chosen, func(c host.Controller) bool { return c.Name == "kubelet" && c.Era == "" })
	if at < 0 {
		return chosen
	}
	node := firstNode(s.trial.Server)
	if node == "" {
		node = s.join(kubelet.NewNode("node-1", time.Now().UTC()))
	}
	o := kubelet.Options{Lifelike: true, Bind: node}
	if slices.ContainsFunc(chosen, func(c host.Controller) bool { return c.Name == "scheduler" }) {
		o.Bind = ""
	}
	chosen = slices.Clone(chosen)
	chosen[at] = kubelet.New(o)
	return chosen
}

// join adds a node, and returns its name. The server taints it as one that is not ready; the
// controller that takes that off when it is, is not here.
func (s *site) join(node *corev1.Node) string {
	s.handler.With(func(server *fakeapi.Server) {
		req := fakeapi.Request{Verb: fakeapi.Create, Kind: server.KindOf(node), Name: node.Name, Object: node,
			UserAgent: "kubelet"}
		tainted, ok := s.runner.Do(&req).Object.(*corev1.Node)
		if !ok {
			return
		}
		node = tainted.DeepCopy()
		node.Spec.Taints = nil
		s.runner.Do(&fakeapi.Request{Verb: fakeapi.Update, Kind: req.Kind, Name: node.Name, Object: node,
			UserAgent: "kubelet"})
	})
	return node.Name
}

// firstNode is the name of the first node that there is, "" for none.
func firstNode(s *fakeapi.Server) (name string) {
	s.Each(s.KindNamed("node"), func(obj runtime.Object) bool {
		name = obj.(*corev1.Node).Name
		return false
	})
	return name
}

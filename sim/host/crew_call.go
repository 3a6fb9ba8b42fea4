package host

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/sim"
)

func (k *crew) sign(c *Call, r *sim.Record) {
	k.worker.sign(r)
	r.Asked = c.asked
}

// saw returns the version of an object that the sync had last read.
func (k *crew) saw(_ *Call, kind *fakeapi.Kind, namespace, name string) any {
	return k.worker.sawObject(kind, namespace, name)
}

func (k *crew) told(_ *Call, kind *fakeapi.Kind, m metav1.Object) { k.worker.told(kind, m) }

func (k *crew) execute(c *Call, f *FailedRequest) {
	p := k.worker.process
	c.done = p.cluster.world.History.Len()
	c.Response = p.cluster.serve(c, c.Request, f)
	p.linger(c.Request)
	c.state, p.touched = answered, true
	p.cluster.fold(c.Request, &c.Response, &c.local, &c.abstract)
}

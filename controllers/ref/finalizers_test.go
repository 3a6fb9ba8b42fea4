package ref

import (
	"context"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/threelaws/threelaws/sim/host"
)

// patches notes the last patch, and answers with the object that it was for.
type patches struct {
	host.Client
	last string
	obj  runtime.Object
}

func (p *patches) Patch(_ context.Context, _ schema.GroupVersionKind, _, _ string, patch host.Patch) (runtime.Object,
	error) {
	p.last = string(patch.Data)
	return p.obj, nil
}

// Finalizers come and go in the patch that the reference does.
func TestFinalizers(t *testing.T) {
	orphan := pod("ns", false, "")
	c := &patches{obj: orphan}
	m := &Manager{Client: c, Owner: owner(false), Finalizers: []string{"a/b", `c/"d`},
		Without: &Without{LiveCheck: true}}
	if err := m.Adopt(context.Background(), orphan); err != nil {
		t.Fatal(err)
	}
	const adopts = `{"metadata":{"finalizers":["a/b","c/\"d"],"ownerReferences":[`
	if len(c.last) < len(adopts) || c.last[:len(adopts)] != adopts {
		t.Errorf("adopts by %s", c.last)
	}
	if err := m.Release(context.Background(), orphan); err != nil {
		t.Fatal(err)
	}
	const releases = `{"metadata":{"$deleteFromPrimitiveList/finalizers":["a/b","c/\"d"],"ownerReferences":[`
	if len(c.last) < len(releases) || c.last[:len(releases)] != releases {
		t.Errorf("releases by %s", c.last)
	}
}

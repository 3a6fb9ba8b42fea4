package scenarios

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/internal/render"
	"github.com/threelaws/threelaws/scenarios/internal/manifest"
	"github.com/threelaws/threelaws/sim"
)

// base is a server with the objects that a file installs. Every world of the file begins with a fork of it.
type base struct {
	key    baseKey
	mutex  sync.Mutex
	server *fakeapi.Server
}

// baseKey identifies a base by its content.
type baseKey struct {
	options *fakeapi.Options
	text    [sha256.Size]byte // of all sections
}

// bases caches the latest bases. Cases of one controller install the same objects, and CRDs of some megabytes take
// seconds to load.
var bases struct {
	mutex sync.Mutex
	made  []*base // oldest first
}

// mostBases limits the cached bases.
const mostBases = 4

// fork returns a server for a new world.
func (b *base) fork() *fakeapi.Server {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.server.Fork()
}

// install adds sections to a base; nil means an empty one.
func (f *File) install(on *base, g *Registry, secs []*section) (*base, error) {
	key := baseKey{options: g.Server}
	if on != nil {
		key.text = on.key.text
	}
	sum := sha256.New()
	sum.Write(key.text[:])
	for _, sec := range secs {
		fmt.Fprintf(sum, "%v %d\n%s", sec.only, len(sec.body), sec.body)
	}
	sum.Sum(key.text[:0])
	bases.mutex.Lock()
	defer bases.mutex.Unlock()
	if i := slices.IndexFunc(bases.made, func(b *base) bool { return b.key == key }); i >= 0 {
		return bases.made[i], nil
	}
	made := &base{key: key}
	switch {
	case on != nil:
		made.server = on.fork()
	case g.Server != nil:
		made.server = g.server()
	default:
		made.server = fakeapi.New(fakeapi.Options{})
	}
	for _, sec := range secs {
		text := f.text(sec)
		docs, err := manifest.Decode(text, made.server)
		if err != nil {
			return nil, misread(err)
		}
		for _, m := range docs {
			if what := put(made.server, m); what != "" {
				return nil, misread(text.Refused(m, what))
			}
		}
	}
	if bases.made = append(bases.made, made); len(bases.made) > mostBases {
		bases.made = slices.Delete(bases.made, 0, 1)
	}
	return made, nil
}

// put creates an object on a new server, or merges it into an existing one. It returns the server's refusal.
func put(server *fakeapi.Server, m *manifest.Manifest) string {
	k := server.Kind(m.Kind.GVK)
	if k == nil {
		return "there is no such kind"
	}
	req, o := m.CreateRequest(), m.Meta()
	req.Kind = k
	if o.GetName() != "" && server.Lookup(k, o.GetNamespace(), o.GetName()) != nil {
		req = &fakeapi.Request{Verb: fakeapi.Patch, Kind: k, Namespace: o.GetNamespace(), Name: o.GetName(),
			PatchType: types.MergePatchType, Patch: m.JSON}
	}
	resp, _ := server.Do(sim.Epoch, req)
	if resp.Err == nil {
		return ""
	}
	st := resp.Err.ErrStatus
	return render.RefusalOf(&sim.Record{Code: int(st.Code), Reason: string(st.Reason), Message: st.Message})
}

package httpapi

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/threelaws/threelaws/fakeapi"
)

// Dump writes every object as YAML, as it is stored. [Handler.Load] takes it.
func (h *Handler) Dump(to io.Writer) (err error) {
	w := bufio.NewWriter(to)
	written := map[types.UID]bool{} // a kind may be served in several versions
	h.With(func(s *fakeapi.Server) {
		for _, k := range s.Kinds() {
			if d, _ := k.Definition(); k.Stored() != k && d.Spec.Conversion != nil &&
				d.Spec.Conversion.Strategy == "Webhook" && s.Len(k) > 0 && err == nil {
				err = fmt.Errorf("%s: the version that is stored is not served, and a webhook would have to be "+
					"called to read what there is: serve it to dump", d.Name)
			}
			s.Each(k, func(obj runtime.Object) bool {
				uid := obj.(metav1.Object).GetUID()
				if written[uid] {
					return true
				}
				written[uid] = true
				var raw, text []byte
				if raw, err = json.Marshal(obj); err == nil {
					text, err = yaml.JSONToYAML(raw)
				}
				if err == nil {
					_, err = fmt.Fprintf(w, "---\n%s", text)
				}
				return err == nil
			})
		}
	})
	if err != nil {
		return err
	}
	return w.Flush()
}

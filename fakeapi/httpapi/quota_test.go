package httpapi

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/threelaws/threelaws/fakeapi"
)

// Sixteen clients that create all they can against a quota of 100 get exactly 100.
func TestQuotaHoldsAgainstManyClients(t *testing.T) {
	const clients, most = 16, 100
	for _, managed := range []bool{false, true} {
		h := New(fakeapi.New(fakeapi.Options{ManagedFields: managed}), func() time.Time { return time.Unix(1e9, 0) })
		to := map[string]string{"content-type": "application/json"}
		const quotas = "/api/v1/namespaces/default/resourcequotas"
		send(h, "POST", quotas, "", to,
			`{"apiVersion":"v1","kind":"ResourceQuota","metadata":{"name":"q"},"spec":{"hard":{"configmaps":"100"}}}`)
		code, body := send(h, "PATCH", quotas+"/q/status", "", map[string]string{
			"content-type": "application/merge-patch+json"},
			`{"status":{"hard":{"configmaps":"100"},"used":{"configmaps":"0"}}}`)
		if code != http.StatusOK {
			t.Fatal(body)
		}
		var made, refused atomic.Int32
		var all sync.WaitGroup
		for c := range clients {
			all.Go(func() {
				for i := range most {
					code, body := send(h, "POST", "/api/v1/namespaces/default/configmaps", "", to, fmt.Sprintf(
						`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c%d-%d"}}`, c, i))
					switch code {
					case http.StatusCreated:
						made.Add(1)
					case http.StatusForbidden:
						refused.Add(1)
					default:
						t.Errorf("%d %s", code, body)
					}
				}
			})
		}
		all.Wait()
		if made.Load() != most || refused.Load() != clients*most-most {
			t.Errorf("%d were made and %d refused of %d", made.Load(), refused.Load(), clients*most)
		}
		stored := 0
		h.With(func(s *fakeapi.Server) { stored = s.Len(s.KindNamed("configmap")) })
		if stored != most {
			t.Errorf("%d are stored", stored)
		}
	}
}

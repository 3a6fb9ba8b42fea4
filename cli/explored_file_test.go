package cli

import (
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// --era applies to each controller of the file that has this era, whether the file lists the controllers or says "all".
func TestRegenerate(t *testing.T) {
	for _, x := range []struct{ line, want string }{
		{"replicaset podgc", "replicaset@selector podgc"},
		{"rs@current,rc", "replicaset@selector replication@selector"},
		{"* -cronjob kubelet", "*@selector -cronjob kubelet"},
		{"all@current", "all@selector"},
	} {
		f, err := scenarios.Parse("f", []byte("controllers "+x.line+"\n"))
		must(t, err)
		if err := inEra(builtin.Registry(), f, "selector"); err != nil {
			t.Errorf("%s: %v", x.line, err)
		}
		if got := strings.Join(f.Steps[0].Words(), " "); got != x.want {
			t.Errorf("%s in selector is %s, want %s", x.line, got, x.want)
		}
	}
}

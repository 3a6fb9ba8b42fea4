package watch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A given kubeconfig is used or refused: there is no fallback to the pod that runs the program.
func TestLoadRefusesAndSaysWhy(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
	t.Setenv("KUBERNETES_SERVICE_PORT", "1")
	file := filepath.Join(t.TempDir(), "config")
	const contexts = "apiVersion: v1\nkind: Config\ncontexts: [{name: a, context: {cluster: gone}}]\n"
	for _, c := range []struct{ text, context, want string }{
		{"", "", "there is no context in it"},
		{contexts, "", "no context is current; --context names one of: a"},
		{contexts, "b", `there is no context "b"; there are: a`},
		{contexts + "current-context: a\n", "", `context "a" names the cluster "gone", which is not there`},
		{"hello", "", "error loading config file"},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file, c.context); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("%q, context %q: %v, want %s", c.text, c.context, err, c.want)
		}
	}
}

package kubectltest

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// served is a server on a port of this machine, and kubectl for it.
type served struct {
	t          *testing.T
	dir        string // where relative file names of commands begin
	kubeconfig string
}

// serve runs "threelaws serve" until the test ends.
func serve(t *testing.T, args ...string) *served {
	dir := t.TempDir()
	s := &served{t: t, dir: dir, kubeconfig: filepath.Join(dir, "kubeconfig")}
	ctx, cancel := context.WithCancel(context.Background())
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- cli.Command{Registry: builtin.Registry(), Bare: true, Name: "threelaws", Out: w,
			Err: io.Discard}.Run(ctx,
			append([]string{"serve", "--kubeconfig", s.kubeconfig}, args...))
		w.Close()
	}()
	t.Cleanup(func() {
		cancel()
		if c := <-code; c != 0 {
			t.Errorf("serve ended with %d", c)
		}
	})
	var url string
	if _, err := fmt.Fscanf(r, "serving on %s\n", &url); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, r)
	return s
}

// want runs kubectl and asks that it says all of what is wanted.
func (s *served) want(args string, want ...string) {
	s.t.Helper()
	out := s.kubectl(strings.Fields(args)...)
	for _, w := range want {
		if !strings.Contains(out, w) {
			s.t.Fatalf("kubectl %s: want %q in\n%s", args, w, out)
		}
	}
}

// kubectl runs a command; what it says comes back as that of [session.kubectl] does.
func (s *served) kubectl(args ...string) string {
	var out output
	flags := newFlags(&out)
	cache := filepath.Join(s.dir, "cache")
	flags.KubeConfig, flags.CacheDir = &s.kubeconfig, &cache
	for i, a := range args {
		if strings.HasPrefix(a, "config/") || strings.HasSuffix(a, ".yaml") && !filepath.IsAbs(a) {
			args[i] = filepath.Join(s.dir, a)
		}
	}
	runKubectl(context.Background(), flags, args, &out)
	return out.String()
}

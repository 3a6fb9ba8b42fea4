package kubectltest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/cert"

	"github.com/threelaws/threelaws/cli"
	"github.com/threelaws/threelaws/kubectltest/operator"
	"github.com/threelaws/threelaws/scenarios/builtin"
)

// site is a running "threelaws serve" with the files of an operator.
type site struct {
	*served
	port int // of the operator's webhooks
}

// TestOperator installs a kubebuilder operator from its own manifests by "kubectl apply -k", with an overlay for an
// operator outside the cluster. Then it starts the operator and checks the rules of its CRD, its webhooks, the objects
// that it creates, its status, and a foreground deletion.
func TestOperator(t *testing.T) {
	s := newSite(t)
	s.want("apply -k config/local", "customresourcedefinition.apiextensions.k8s.io/sites.web.example.com created",
		"deployment.apps/sites-controller-manager created",
		"validatingwebhookconfiguration.admissionregistration.k8s.io/sites-validating-webhook-configuration created")
	s.want("wait --for=condition=Established crd/sites.web.example.com --timeout=60s", "condition met")
	s.want("-n sites-system rollout status deployment/sites-controller-manager --timeout=60s",
		"successfully rolled out")
	s.want("apply -f config/samples", "failed calling webhook", "connection refused") // the operator does not run yet
	stop := s.run("first")
	defer stop()

	s.want("apply -f config/samples", "site.web.example.com/shop created")
	s.want("wait --for=condition=Ready site/shop --timeout=60s", "condition met")
	s.want("get sites", "NAME   WANTED   READY   DOMAIN", "shop   2        2       shop.example.com")
	s.want("get deployment,configmap -l site!=x -o name", "deployment.apps/shop", "configmap/shop")
	s.want("get events.events.k8s.io -o custom-columns=:.note", "2 pods serve the page")
	s.refusals()
	// The operator deletes a Site with preview. The DeleteOptions are in the API group of Site.
	s.apply("glance", "title: Glance, domain: glance.example.com, preview: true", "site.web.example.com/glance created")
	s.want("wait --for=delete site/glance --timeout=60s", "condition met")

	// A second instance waits for the lease.
	s.want("-n sites-system get lease sites.example.com -o jsonpath={.spec.holderIdentity}", "_")
	stop()
	defer s.run("second")()
	s.want("patch site shop --type=merge -p {\"spec\":{\"replicas\":3}}", "site.web.example.com/shop patched")
	s.want("wait --for=jsonpath={.status.ready}=3 site/shop --timeout=60s", "condition met")
	s.want("delete site shop --cascade=foreground --timeout=60s", `site.web.example.com "shop" deleted`)
	s.want("get deployment,replicaset,pod,configmap -l site=shop", "No resources found")
}

// refusals checks what the CRD and the webhooks refuse, default and warn about.
func (s *site) refusals() {
	s.want("patch site shop --type=merge -p {\"spec\":{\"domain\":\"elsewhere.example.com\"}}",
		`The Site "shop" is invalid: spec.domain: Invalid value: "elsewhere.example.com": a site does not move`)
	s.apply("big", "title: Big, replicas: 9",
		`The Site "big" is invalid: spec.replicas: Forbidden: more than 5 pods are for sites with a domain, not for Big`)
	s.apply("vague", "title: Vague, image: 'web:latest'",
		`admission webhook "vsite-v1.kb.io" denied the request: image web:latest: nobody knows what that is`)
	s.apply("bare", "title: Bare", "Warning: without a domain nobody finds the site",
		"site.web.example.com/bare created")
	s.want("get site bare -o jsonpath={.spec}", `"image":"web:1"`, `"replicas":1`)
	s.want("delete site bare", `site.web.example.com "bare" deleted`)
}

func newSite(t *testing.T) *site {
	s := &site{served: serve(t, "--controllers=all")}
	s.files()
	return s
}

// files writes the operator's manifests, the overlay with the address of its webhooks, and their certificate.
func (s *site) files() {
	if err := os.CopyFS(filepath.Join(s.dir, "config"), os.DirFS("operator/config")); err != nil {
		s.t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.t.Fatal(err)
	}
	s.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	crt, key, err := cert.GenerateSelfSignedCertKey("127.0.0.1", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.write("certs/tls.crt", string(crt))
	s.write("certs/tls.key", string(key))
	overlay := "resources: [../default]\npatches:\n"
	for kind, path := range map[string]string{"Mutating": "mutate", "Validating": "validate"} {
		overlay += fmt.Sprintf(`- target: {kind: %sWebhookConfiguration}
  patch: |
    - {op: replace, path: /webhooks/0/clientConfig, value: {
        url: "https://127.0.0.1:%d/%s-web-example-com-v1-site", caBundle: %s}}
`, kind, s.port, path, base64.StdEncoding.EncodeToString(crt))
	}
	s.write("config/local/kustomization.yaml", overlay)
}

func (s *site) write(name, text string) {
	name = filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// run starts the operator, and returns when it is the leader.
func (s *site) run(name string) (stop func()) {
	s.t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		s.t.Fatal(err)
	}
	config.UserAgent = name
	ctx, cancel := context.WithCancel(context.Background())
	elected, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- operator.Run(ctx, config, operator.Options{Namespace: "sites-system", Lease: "sites.example.com",
			CertDir: filepath.Join(s.dir, "certs"), WebhookPort: s.port, Elected: func() { close(elected) }})
	}()
	select {
	case <-elected:
	case err := <-done:
		s.t.Fatalf("the operator ended: %v", err)
	case <-time.After(time.Minute):
		s.t.Fatal("the operator is not the leader after a minute")
	}
	stopped := false
	return func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("the operator ended: %v", err)
		}
	}
}

func (s *site) apply(name, spec string, want ...string) {
	s.t.Helper()
	s.write(name+".yaml", fmt.Sprintf("apiVersion: web.example.com/v1\nkind: Site\nmetadata: {name: %s}\nspec: {%s}\n",
		name, spec))
	s.want("apply -f "+name+".yaml", want...)
}

// served is a running "threelaws serve", with a kubectl for it.
type served struct {
	t          *testing.T
	dir        string // the base of relative file names in commands
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

// want runs kubectl and checks its output.
func (s *served) want(args string, want ...string) {
	s.t.Helper()
	out := s.kubectl(strings.Fields(args)...)
	for _, w := range want {
		if !strings.Contains(out, w) {
			s.t.Fatalf("kubectl %s: want %q in\n%s", args, w, out)
		}
	}
}

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

var definitions = flag.Bool("definitions", false, "download the CRDs of other projects, and install them")

// project is a module with the directories of its CRDs.
type project struct {
	module string
	dirs   []string
}

var projects = []project{
	{"sigs.k8s.io/gateway-api@v1.4.0", []string{"config/crd/standard"}},
	{"sigs.k8s.io/cluster-api@v1.11.1", []string{"config/crd/bases", "bootstrap/kubeadm/config/crd/bases",
		"controlplane/kubeadm/config/crd/bases"}},
	{"sigs.k8s.io/kueue@v0.10.0", []string{"config/components/crd/bases"}},
	{"sigs.k8s.io/karpenter@v1.8.0", []string{"pkg/apis/crds"}},
	{"github.com/cert-manager/cert-manager@v1.19.0", []string{"deploy/crds"}},
	{"github.com/prometheus-operator/prometheus-operator@v0.76.0", []string{"example/prometheus-operator-crd"}},
	{"github.com/argoproj/argo-rollouts@v1.8.3", []string{"manifests/crds"}},
	{"github.com/kedacore/keda/v2@v2.18.0", []string{"config/crd/bases"}},
}

func download(t *testing.T, module string) string {
	cmd := exec.Command("go", "mod", "download", "-json", module)
	cmd.Dir = t.TempDir() // outside of all modules, so that none is changed
	out, err := cmd.Output()
	var m struct{ Dir, Error string }
	if json.Unmarshal(out, &m) != nil || m.Dir == "" {
		t.Fatalf("%s cannot be downloaded: %v %s", module, err, m.Error)
	}
	return m.Dir
}

// TestDefinitionsOfOthers installs the CRDs of eight projects in one server. Then it runs gateway-api's own tests of
// its validation rules against this server. These tests create some hundred objects, and check the refusals and their
// messages.
func TestDefinitionsOfOthers(t *testing.T) {
	if !*definitions {
		t.Skip("run make definitions: it sets -definitions and downloads some hundred megabytes")
	}
	s, n := serve(t), 0
	for _, p := range projects {
		root := download(t, p.module)
		for _, dir := range p.dirs {
			files, err := filepath.Glob(filepath.Join(root, dir, "*.yaml"))
			if err != nil || len(files) == 0 {
				t.Fatalf("%s has no CRDs in %s", p.module, dir)
			}
			for _, f := range files {
				n += s.install(f)
			}
		}
	}
	t.Logf("%d CRDs are established", n)
	root := download(t, projects[0].module)
	cmd := exec.Command("go", "test", "-count=1", "-v", "./pkg/test/cel")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "KUBECONFIG="+s.kubeconfig, "GOFLAGS=-mod=readonly")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("gateway-api's tests: %v\n%s", err, out)
	}
	t.Logf("%d tests of gateway-api's pass", strings.Count(string(out), "--- PASS"))
}

func (s *served) install(file string) int {
	raw, err := os.ReadFile(file)
	if err != nil {
		s.t.Fatal(err)
	}
	n := strings.Count("\n"+string(raw), "\nkind: CustomResourceDefinition")
	if n == 0 {
		return 0 // a kustomization
	}
	if out := s.kubectl("apply", "--server-side", "-f", file); strings.Count(out, "serverside-applied") != n {
		s.t.Errorf("%s: %s", file, out)
	}
	out := s.kubectl("wait", "--for=condition=Established", "--timeout=30s", "-f", file)
	if strings.Count(out, "condition met") != n {
		s.t.Errorf("%s: %s", file, out)
	}
	return n
}

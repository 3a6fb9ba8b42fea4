package cli

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/internal/install"
	"github.com/threelaws/threelaws/internal/kubernetes"
	"github.com/threelaws/threelaws/internal/overlay"
	"github.com/threelaws/threelaws/sim/host"
)

func findOperator(ctx context.Context, s *settings) (*operator, error) {
	from := install.Options{Dir: s.Dir, Main: s.Package, Install: s.Install, Workload: s.Workload,
		CRDs: absolute(s.CRDs), Samples: absolute(s.Samples), Version: strings.TrimPrefix(kubernetes.Version, "v")}
	if s.Install != "" && s.Install != "none" {
		from.Install = absolute([]string{s.Install})[0]
	}
	if s.Test != "" {
		from.Dir, from.Main, from.Test = ".", cmp.Or(s.Package, "."), true
	}
	repo, err := install.Find(ctx, from)
	if err != nil {
		return nil, usage("%v", err)
	}
	name := filepath.Base(strings.TrimSuffix(repo.Main, "/main.go"))
	if name == "." || name == "cmd" || name == "manager" {
		name = cmp.Or(repo.Name, filepath.Base(repo.Dir))
	}
	dir, builds := s.Dir, repo.Main
	if s.Test != "" {
		dir, builds = from.Main, s.Test+" of "+repo.Main
	}
	op := &operator{Name: name, Dir: dir, Builds: builds, Notes: repo.Notes, CRDs: files(repo.Dir, repo.CRDs)}
	for _, o := range repo.OtherCRDs {
		op.OtherCRDs = append(op.OtherCRDs, file(repo.Dir, []install.Object{o}))
	}
	for _, o := range repo.Objects {
		op.Installed = append(op.Installed, o.Unstructured)
	}
	for _, sample := range repo.Samples {
		op.Samples = append(op.Samples, file(repo.Dir, append([]install.Object{sample.Object}, sample.Beside...)))
	}
	b := binary(repo, name)
	op.Found = settings{Package: repo.Main, Install: repo.From, Args: b.Args}
	for _, o := range repo.CRDs {
		if filepath.IsLocal(o.File) { // the file is in this module
			op.Found.CRDs = appendOnce(op.Found.CRDs, path.Dir(o.File))
		}
	}
	for _, sample := range repo.Samples {
		op.Found.Samples = appendOnce(op.Found.Samples, sample.File)
	}
	certify(op, b)
	if s.Args != nil {
		b.Args, op.Found.Args = s.Args, s.Args
	}
	if s.Test != "" {
		b.Args, b.Repository = []string{"-test.v", "-test.timeout=0", "-test.run=" + pattern(s.Test)}, filepath.Join(repo.Dir, repo.Main)
	}
	b.Env = append(b.Env, s.Env...)
	if w := repo.Workload; w != nil {
		op.Own = w.Own()
		b.Replicas = func(number int) agent.Replica {
			p := w.Process(number)
			r := agent.Replica{Pod: p.Pod, Env: append(p.Env, s.Env...)}
			if s.Args == nil && s.Test == "" {
				r.Args = p.Args
			}
			return r
		}
	}
	op.Host = func(ctx context.Context) (func(host.Controller) host.Controller, error) {
		note, err := build(ctx, s, repo, b)
		if note != "" {
			op.Notes = append(op.Notes, note)
		}
		return b.Controller, err
	}
	op.Waits = b.Waits
	if s.Test != "" {
		op.Reuse = b.Reuse
	}
	op.Close = func() {
		b.Close()
		_ = os.RemoveAll(filepath.Dir(b.Path)) // if this fails, a temporary directory stays
	}
	return op, nil
}

// absolute returns absolute paths. If the working directory is unknown, it returns the paths unchanged.
func absolute(paths []string) (all []string) {
	for _, p := range paths {
		if at, err := filepath.Abs(p); err == nil {
			p = at
		}
		all = append(all, p)
	}
	return all
}

// build builds the operator. note is not empty if the operator's own Go release is unknown, so another one builds it.
func build(ctx context.Context, s *settings, repo *install.Repository, b *agent.Binary) (note string, err error) {
	cache, err := cacheDir()
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "threelaws-main")
	if err != nil {
		return "", err
	}
	b.Path = filepath.Join(dir, "main")
	function, _, _ := strings.Cut(s.Test, "/") // the function, without the names of subtests
	built, err := overlay.Build{Dir: repo.Dir, Package: repo.Main, Test: function, Out: b.Path, Cache: cache}.Run(ctx)
	if built.Instead != "" {
		note = fmt.Sprintf("%s is not a Go that threelaws knows: %s builds %s", built.Instead, built.Version, repo.Main)
	}
	if err != nil {
		return note, usage("%v", err)
	}
	b.Announces = built.Announces
	return note, nil
}

// pattern returns a value of -test.run that matches only one test or subtest ("TestX/name").
func pattern(test string) string {
	names := strings.Split(test, "/")
	for i, name := range names {
		names[i] = "^" + regexp.QuoteMeta(name) + "$"
	}
	return strings.Join(names, "/")
}

func file(dir string, objects []install.Object) *check.File {
	f := &check.File{Name: objects[0].File}
	if at := filepath.Join(dir, filepath.FromSlash(f.Name)); onDisk(at) {
		f.Path = fromHere(at)
	}
	for _, o := range objects {
		f.Objects = append(f.Objects, check.Object{Unstructured: o.Unstructured, Line: o.Line})
	}
	return f
}

// fromHere returns a path relative to the working directory, or the path unchanged if no relative path exists.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	from, err := filepath.Rel(here, path)
	if err != nil {
		return path
	}
	return from
}

func files(dir string, objects []install.Object) (all []*check.File) {
	for _, o := range objects {
		i := slices.IndexFunc(all, func(f *check.File) bool { return f.Name == o.File })
		if i < 0 {
			all = append(all, file(dir, []install.Object{o}))
			continue
		}
		all[i].Objects = append(all[i].Objects, check.Object{Unstructured: o.Unstructured, Line: o.Line})
	}
	return all
}

func appendOnce(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

func binary(repo *install.Repository, name string) *agent.Binary {
	b := &agent.Binary{Name: name, Repository: repo.Dir, Args: repo.Args}
	w := repo.Workload
	if w == nil {
		return b
	}
	p := w.Process(0)
	b.Args, b.Env, b.Namespace, b.WorkingDir = p.Args, p.Env, w.GetNamespace(), w.Container.WorkingDir
	b.Account = w.ServiceAccount()
	b.Ports = map[string]int64{}
	for _, c := range w.Pod.Spec.Containers {
		for _, port := range c.Ports {
			b.Ports[port.Name] = int64(port.ContainerPort)
		}
	}
	for _, m := range w.Mounts {
		if len(m.Sources) == 0 && m.SubPath == "" {
			b.Folders = append(b.Folders, m.Path)
		}
		for _, source := range m.Sources {
			projection := agent.Projection{Kind: source.Kind, Namespace: w.GetNamespace(), Name: source.Name, Path: m.Path}
			for _, item := range source.Items {
				if projection.Keys == nil {
					projection.Keys = map[string]string{}
				}
				projection.Keys[item.Key] = item.Path
			}
			if m.SubPath != "" {
				projection.Keys, projection.Path = map[string]string{m.SubPath: filepath.Base(m.Path)}, filepath.Dir(m.Path)
			}
			b.Projections = append(b.Projections, projection)
		}
	}
	return b
}

// certify does the work of cert-manager. It adds the Secrets of the Certificates in the manifests. If there are
// webhooks, it also adds each Secret that the operator mounts and the manifests do not contain. If certify added any
// Secret, it sets the missing CA bundles of webhooks, and removes the objects that only cert-manager reads.
func certify(op *operator, b *agent.Binary) {
	made := false
	for _, o := range slices.Clone(op.Installed) {
		if o.GetKind() != "Certificate" || !strings.HasPrefix(o.GetAPIVersion(), "cert-manager.io/") {
			continue
		}
		name, _, _ := unstructured.NestedString(o.Object, "spec", "secretName")
		names, _, _ := unstructured.NestedStringSlice(o.Object, "spec", "dnsNames")
		if name != "" && len(names) > 0 {
			made = op.certificate(o.GetNamespace(), name, names) || made
		}
	}
	services := op.webhookServices()
	for _, p := range b.Projections {
		if p.Kind == "Secret" && len(services) > 0 && op.find("Secret", p.Namespace, p.Name) == nil {
			made = op.certificate(p.Namespace, p.Name, services) || made
		}
	}
	if !made {
		return
	}
	if !op.defines("cert-manager.io") { // otherwise each sample prints that the server does not serve these objects
		op.Installed = slices.DeleteFunc(op.Installed, func(o *unstructured.Unstructured) bool {
			secret, _, _ := unstructured.NestedString(o.Object, "spec", "secretName")
			return strings.HasPrefix(o.GetAPIVersion(), "cert-manager.io/") &&
				(o.GetKind() != "Certificate" || op.find("Secret", o.GetNamespace(), secret) != nil)
		})
	}
	op.eachClientConfig(func(config map[string]any) {
		if bundle, _ := config["caBundle"].(string); bundle == "" || bundle == "Cg==" { // "Cg==" is a placeholder
			config["caBundle"] = base64.StdEncoding.EncodeToString([]byte(agent.Authority))
		}
	})
}

// certificate adds a TLS Secret, unless the manifests contain a Secret with this name. It reports whether it added one.
func (op *operator) certificate(namespace, name string, hosts []string) bool {
	certificate, key := agent.Certificate(hosts...)
	s := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"stringData": map[string]any{"tls.crt": certificate, "tls.key": key, "ca.crt": agent.Authority}}}
	s.SetNamespace(namespace)
	s.SetName(name)
	if op.find("Secret", namespace, name) != nil {
		return false
	}
	op.Installed = append(op.Installed, s)
	op.Notes = slices.DeleteFunc(op.Notes, func(note string) bool { // remove the note that this Secret is missing
		return strings.HasPrefix(note, "Secret "+name+", mounted at ") && strings.Contains(note, "--with FILE gives it")
	})
	op.Notes = append(op.Notes, fmt.Sprintf("Secret %s/%s is made with a certificate for %s", namespace, name,
		strings.Join(hosts, ", ")))
	return true
}

// defines reports whether a CRD of the operator is in this API group.
func (op *operator) defines(group string) bool {
	return slices.ContainsFunc(op.CRDs, func(f *check.File) bool {
		return slices.ContainsFunc(f.Objects, func(o check.Object) bool {
			of, _, _ := unstructured.NestedString(o.Object, "spec", "group")
			return of == group
		})
	})
}

func (op *operator) webhookServices() (hosts []string) {
	op.eachClientConfig(func(config map[string]any) {
		name, _, _ := unstructured.NestedString(config, "service", "name")
		namespace, _, _ := unstructured.NestedString(config, "service", "namespace")
		if host := name + "." + namespace + ".svc"; name != "" && !slices.Contains(hosts, host) {
			hosts = append(hosts, host)
		}
	})
	return hosts
}

func (op *operator) eachClientConfig(visit func(config map[string]any)) {
	for _, o := range op.Installed {
		hooks, _ := o.Object["webhooks"].([]any)
		for _, h := range hooks {
			hook, _ := h.(map[string]any)
			if config, is := hook["clientConfig"].(map[string]any); is {
				visit(config)
			}
		}
	}
	for _, f := range op.CRDs {
		for _, o := range f.Objects {
			conversion, _, _ := unstructured.NestedMap(o.Object, "spec", "conversion", "webhook", "clientConfig")
			if conversion != nil {
				visit(conversion)
				_ = unstructured.SetNestedMap(o.Object, conversion, "spec", "conversion", "webhook", "clientConfig")
			}
		}
	}
}

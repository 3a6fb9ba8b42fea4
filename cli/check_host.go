package cli

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/check"
	"github.com/threelaws/threelaws/internal/install"
	"github.com/threelaws/threelaws/internal/overlay"
	"github.com/threelaws/threelaws/sim/agent"
	"github.com/threelaws/threelaws/sim/host"
)

// kubernetes is the version of the simulated clusters, for which charts are rendered.
const kubernetes = "1.36.3"

// findOperator finds the operator of a repository. It is the one place where check meets what reads repositories
// and what hosts a main.
func findOperator(ctx context.Context, s *settings) (*operator, error) {
	from := install.Options{Dir: s.Dir, Main: s.Package, Install: s.Install, Workload: s.Workload,
		CRDs: absolute(s.CRDs), Samples: absolute(s.Samples), Version: kubernetes}
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
	for _, o := range repo.Objects {
		op.Installed = append(op.Installed, o.Unstructured)
	}
	for _, sample := range repo.Samples {
		op.Samples = append(op.Samples, file(repo.Dir, append([]install.Object{sample.Object}, sample.Beside...)))
	}
	b := binary(repo, name)
	op.Found = settings{Package: repo.Main, Install: repo.From, Args: b.Args}
	for _, o := range repo.CRDs {
		if filepath.IsLocal(o.File) { // not of another module
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
		return b.Controller, build(ctx, s, repo, b)
	}
	op.Waits = b.Waits
	if s.Test != "" {
		op.Reuse = b.Reuse
	}
	op.Close = func() {
		b.Close()
		_ = os.RemoveAll(filepath.Dir(b.Path)) // a folder of the system's temporary files
	}
	return op, nil
}

// absolute makes paths independent of the working directory. A path of which that is unknown stays as it is.
func absolute(paths []string) (all []string) {
	for _, p := range paths {
		if at, err := filepath.Abs(p); err == nil {
			p = at
		}
		all = append(all, p)
	}
	return all
}

// build builds the operator's main.
func build(ctx context.Context, s *settings, repo *install.Repository, b *agent.Binary) error {
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "threelaws-main")
	if err != nil {
		return err
	}
	b.Path = filepath.Join(dir, "main")
	if _, err := (overlay.Build{Dir: repo.Dir, Package: repo.Main, Test: function(s.Test), Out: b.Path, Cache: cache}).Run(ctx); err != nil {
		return usage("%v", err)
	}
	return nil
}

// function is the function of a test.
func function(test string) string {
	name, _, _ := strings.Cut(test, "/")
	return name
}

// pattern matches a test, or a subtest as "TestX/name", alone.
func pattern(test string) string {
	names := strings.Split(test, "/")
	for i, name := range names {
		names[i] = "^" + regexp.QuoteMeta(name) + "$"
	}
	return strings.Join(names, "/")
}

// file is the objects of one file.
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

// fromHere is a path from the working directory, as that of the folder in which failures are kept: they name the file
// by the way from one to the other.
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

// files are objects by the files that hold them.
func files(dir string, objects []install.Object) (all []*check.File) {
	at := map[string]*check.File{}
	for _, o := range objects {
		f := at[o.File]
		if f == nil {
			f = file(dir, []install.Object{o})
			at[o.File], all = f, append(all, f)
			continue
		}
		f.Objects = append(f.Objects, check.Object{Unstructured: o.Unstructured, Line: o.Line})
	}
	return all
}

// appendOnce appends a word unless it is there.
func appendOnce(list []string, word string) []string {
	if slices.Contains(list, word) {
		return list
	}
	return append(list, word)
}

// binary is how the operator's process is started, as its workload says.
func binary(repo *install.Repository, name string) *agent.Binary {
	b := &agent.Binary{Name: name, Repository: repo.Dir, Args: repo.Args}
	w := repo.Workload
	if w == nil {
		return b
	}
	p := w.Process(0)
	b.Args, b.Env, b.Namespace, b.WorkingDir = p.Args, p.Env, w.GetNamespace(), w.WorkingDir
	b.Ports = ports(w)
	for _, m := range w.Mounts {
		for _, source := range m.Sources {
			if source.Kind != "Secret" && source.Kind != "ConfigMap" {
				continue
			}
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

// ports are the named ports of the operator's container.
func ports(w *install.Workload) map[string]int64 {
	named := map[string]int64{}
	containers, _, _ := unstructured.NestedSlice(w.Object.Object, "spec", "template", "spec", "containers")
	for _, c := range containers {
		list, _, _ := unstructured.NestedSlice(c.(map[string]any), "ports")
		for _, p := range list {
			port, _ := p.(map[string]any)
			name, _ := port["name"].(string)
			number, _ := port["containerPort"].(int64)
			named[name] = number
		}
	}
	return named
}

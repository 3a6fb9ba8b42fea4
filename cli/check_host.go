package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

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
	if s.Test == "" {
		found := map[string][]*check.File{} // group/kind -> CRDs
		op.ModuleCRDs = func(group, kind string) []*check.File {
			key := group + "/" + kind
			if _, known := found[key]; !known {
				found[key] = files(repo.Dir, repo.ModuleCRDs(ctx, group, kind))
			}
			return found[key]
		}
	}
	op.Named = func(kind, name, near string) []*check.File { return files(repo.Dir, repo.Named(kind, name, near)) }
	whole := func(s install.Sample) *check.File {
		return file(repo.Dir, append([]install.Object{s.Object}, s.Beside...))
	}
	for _, sample := range repo.OtherSamples {
		for _, s := range append([]install.Sample{sample}, sample.Next...) {
			op.Others = append(op.Others, whole(s))
		}
	}
	for _, o := range repo.Objects {
		op.Installed = append(op.Installed, o.Unstructured)
	}
	op.Next = map[*check.File][]*check.File{}
	for _, sample := range repo.Samples {
		f := whole(sample)
		op.Samples = append(op.Samples, f)
		for _, next := range sample.Next {
			op.Next[f] = append(op.Next[f], whole(next))
		}
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
	if s.Args == nil && s.Test == "" {
		op.LeaveOut = func(flag string) (argument string) {
			b.Args, argument = without(b.Args, flag)
			if replicas := b.Replicas; argument != "" && replicas != nil {
				b.Replicas = func(number int) agent.Replica {
					r := replicas(number)
					r.Args, _ = without(r.Args, flag)
					return r
				}
			}
			return argument
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
	op.Mount = func(secret, dir string) string {
		namespace := cmp.Or(b.Namespace, "default")
		b.Projections = append(b.Projections, agent.Projection{Kind: "Secret", Namespace: namespace, Name: secret, Path: dir})
		return namespace
	}
	op.Close = func() {
		b.Close()
		_ = os.RemoveAll(filepath.Dir(b.Path)) // if this fails, a temporary directory stays
	}
	return op, nil
}

// without returns arguments without a flag and its value, and what it has left out, or "" if the arguments lack the flag.
func without(args []string, flag string) (rest []string, argument string) {
	i := slices.IndexFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return strings.HasPrefix(arg, "-") && name == flag
	})
	if i < 0 {
		return args, ""
	}
	end := i + 1
	if !strings.Contains(args[i], "=") && end < len(args) && !strings.HasPrefix(args[end], "-") {
		end++
	}
	return slices.Concat(args[:i], args[end:]), strings.Join(args[i:end], " ")
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
		return "", usage("no temporary folder can be made: %v; set TMPDIR to a folder that exists", err)
	}
	b.Path = filepath.Join(dir, "main")
	function, _, _ := strings.Cut(s.Test, "/") // the function, without the names of subtests
	build := overlay.Build{Dir: repo.Dir, Package: repo.Main, Test: function, Out: b.Path, Cache: cache}
	if repo.Tags != "" && !strings.Contains(os.Getenv("GOFLAGS"), "-tags") {
		build.Flags = []string{"-tags=" + repo.Tags}
	}
	built, err := build.Run(ctx)
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
		line := o.Line
		if o.File != f.Name { // the object belongs to another file of the same kustomization
			line = 0
		}
		f.Objects = append(f.Objects, check.Object{Unstructured: o.Unstructured, Line: line})
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

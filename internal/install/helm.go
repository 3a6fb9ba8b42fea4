package install

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

// chartDirs returns the directories of the Helm charts that contain a workload, except their subcharts.
func (f *finder) chartDirs() (dirs []string) {
	for _, file := range f.files {
		dir := path.Dir(file)
		if path.Base(file) != "Chart.yaml" || aside(dir) || !f.runsSomething(dir) ||
			slices.ContainsFunc(dirs, func(parent string) bool { return strings.HasPrefix(dir, parent+"/") }) {
			continue
		}
		dirs = append(dirs, dir)
	}
	return dirs
}

// charts renders the Helm charts that contain a workload. If several can be rendered, it returns those with the
// operator's workload, the most complete one first. Without a result, broken says why.
func (f *finder) charts() (found []manifests, broken error) {
	for _, dir := range f.chartDirs() {
		before := len(f.Notes)
		m, err := f.helm(f.abs(dir))
		m.notes, f.Notes = slices.Clone(f.Notes[before:]), f.Notes[:before]
		switch {
		case err == nil:
			found = append(found, m)
		case broken == nil:
			broken = err
		default:
			broken = fmt.Errorf("%w; %w", broken, err)
		}
	}
	if len(found) < 2 {
		return found, broken
	}
	if best := f.complete(slices.Clone(found)); len(best) > 0 {
		return best, nil
	}
	var names []string
	for _, m := range found {
		names = append(names, m.from)
	}
	return nil, fmt.Errorf("%s: several Helm charts run a workload: name the operator's with --install",
		strings.Join(names, ", "))
}

var workloadTemplate = regexp.MustCompile(`(?m)^kind:\s*(Deployment|StatefulSet|DaemonSet)\s*$`)

func (f *finder) runsSomething(chart string) bool {
	return slices.ContainsFunc(f.files, func(file string) bool {
		if !strings.HasPrefix(file, chart+"/templates/") {
			return false
		}
		text, err := os.ReadFile(f.abs(file))
		return err == nil && workloadTemplate.Match(text)
	})
}

// helm renders a chart with its default values, as "helm template --include-crds" does. The release and its namespace
// have the name of the chart.
func (f *finder) helm(dir string) (manifests, error) {
	m := manifests{from: f.rel(dir)}
	defer silence()()
	c, err := loader.LoadDir(dir)
	var files map[string]string
	if err == nil {
		f.dependencies(c, dir)
		m.namespace = c.Name()
		files, err = f.render(c)
	}
	if err != nil {
		return m, fmt.Errorf("%s: the chart cannot be rendered: %s: render it with your values to a file, and name that "+
			"with --install", m.from, oneLine(err.Error()))
	}
	for _, crd := range c.CRDObjects() {
		files[crd.Filename] = string(crd.File.Data)
	}
	var hooks []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if base := path.Base(name); base == "NOTES.txt" || strings.HasPrefix(base, "_") {
			continue
		}
		_, file, _ := strings.Cut(name, "/") // the first part is the name of the chart
		for _, d := range splitText(path.Join(m.from, file), []byte(files[name])) {
			objects, err := d.objects()
			if err != nil {
				return m, fmt.Errorf("%s: %w", m.from, err)
			}
			for _, o := range objects {
				if hook := o.GetAnnotations()["helm.sh/hook"]; hook != "" && !strings.Contains(hook, "install") {
					hooks = append(hooks, o.GetKind()+" "+o.GetName())
					continue
				}
				o.Line = 0 // a line in rendered text does not correspond to a line in a file
				m.objects = append(m.objects, o)
			}
		}
	}
	if len(hooks) > 0 {
		f.note("%s: its hooks for upgrades, tests and deletion are left out: %s", m.from, strings.Join(hooks, ", "))
	}
	return m, nil
}

// dependencies adds the dependencies of a chart that are in another directory. It removes those that are not
// downloaded.
func (f *finder) dependencies(c *chart.Chart, dir string) {
	var missing []string
	c.Metadata.Dependencies = slices.DeleteFunc(c.Metadata.Dependencies, func(d *chart.Dependency) bool {
		if slices.ContainsFunc(c.Dependencies(), func(other *chart.Chart) bool { return other.Name() == d.Name }) {
			return false
		}
		if at, ok := strings.CutPrefix(d.Repository, "file://"); ok {
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			if other, err := loader.LoadDir(at); err == nil {
				f.dependencies(other, at)
				c.AddDependency(other)
				return false
			}
		}
		missing = append(missing, d.Name)
		return true
	})
	if len(missing) > 0 {
		f.note("%s: the charts that it depends on are not downloaded, and left out: %s; helm dependency build downloads them",
			f.rel(dir), strings.Join(missing, ", "))
	}
}

func (f *finder) render(c *chart.Chart) (map[string]string, error) {
	if err := chartutil.ProcessDependenciesWithMerge(c, c.Values); err != nil {
		return nil, err
	}
	capabilities := chartutil.DefaultCapabilities.Copy()
	if f.opts.Version != "" {
		version, err := chartutil.ParseKubeVersion(f.opts.Version)
		if err != nil {
			return nil, err
		}
		capabilities.KubeVersion = *version
	}
	release := chartutil.ReleaseOptions{Name: c.Name(), Namespace: c.Name(), Revision: 1, IsInstall: true}
	values, err := chartutil.ToRenderValues(c, nil, release, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{}.Render(c, values)
}

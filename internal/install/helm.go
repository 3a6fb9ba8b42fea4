package install

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

var errNoHelm = errors.New("no helm binary in PATH")

// charts returns the directories of Helm charts that contain a workload. It leaves out the subcharts of these charts.
func (f *finder) charts() []string {
	var all []string
	for _, file := range f.files {
		dir := path.Dir(file)
		if path.Base(file) != "Chart.yaml" || aside(dir) ||
			slices.ContainsFunc(all, func(parent string) bool { return strings.HasPrefix(dir, parent+"/") }) {
			continue
		}
		if f.runsSomething(dir) {
			all = append(all, dir)
		}
	}
	return all
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

func chartName(dir string) string {
	var chart struct {
		Name string `json:"name"`
	}
	text, err := os.ReadFile(filepath.Join(dir, "Chart.yaml"))
	if err != nil || yaml.Unmarshal(text, &chart) != nil || chart.Name == "" {
		return filepath.Base(dir)
	}
	return chart.Name
}

var (
	sourceLine    = regexp.MustCompile(`(?m)^# Source: ([^/\s]+)/(\S+)`)
	helmError     = regexp.MustCompile(`(?m)^Error: (.*)$`)
	chartsMissing = regexp.MustCompile(`missing in charts/ directory: ([^:\n]+)`)
)

func (f *finder) helm(ctx context.Context, dir string) ([]Object, error) {
	binary := f.opts.Helm
	if binary == "" {
		var err error
		if binary, err = exec.LookPath("helm"); err != nil {
			return nil, errNoHelm
		}
	}
	name := chartName(dir)
	f.namespace = name
	text, err := f.template(ctx, binary, name, f.abs(dir))
	if m := chartsMissing.FindStringSubmatch(fmt.Sprint(err)); m != nil {
		with := err
		if text, err = f.withoutDependencies(ctx, binary, name, f.abs(dir), strings.Split(m[1], ", ")); err != nil {
			err = with
		} else {
			f.note("%s: the charts that it depends on are not fetched, and left out: %s; helm dependency build fetches them",
				f.rel(dir), m[1])
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: helm template: %w: render the chart with your values to a file, and name that with "+
			"--install", f.rel(dir), err)
	}
	var all []Object
	for _, d := range splitText(f.rel(dir), text) {
		file := d.file
		if m := sourceLine.FindSubmatch(d.text); m != nil {
			file = path.Join(f.rel(dir), string(m[2]))
		}
		objects, err := d.objects()
		if err != nil {
			return nil, fmt.Errorf("%s: helm template: %w", f.rel(dir), err)
		}
		for _, o := range objects {
			o.File, o.Line = file, 0 // a line in rendered text does not correspond to a line in a file
			if hook := o.GetAnnotations()["helm.sh/hook"]; hook != "" && !strings.Contains(hook, "install") {
				f.note("%s %s is a hook of the chart (%s): left out", o.GetKind(), o.GetName(), hook)
				continue
			}
			all = append(all, o)
		}
	}
	return all, nil
}

func (f *finder) template(ctx context.Context, binary, name, dir string) ([]byte, error) {
	args := []string{"template", name, dir, "--include-crds", "--namespace", name}
	if f.opts.Version != "" {
		args = append(args, "--kube-version", f.opts.Version)
	}
	render := exec.CommandContext(ctx, binary, args...)
	render.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
	var stdout, stderr bytes.Buffer
	render.Stdout, render.Stderr = &stdout, &stderr
	err := render.Run()
	if err == nil {
		return stdout.Bytes(), nil
	}
	if m := helmError.FindStringSubmatch(stderr.String()); m != nil {
		err = errors.New(oneLine(m[1]))
	} else if stderr.Len() > 0 {
		err = errors.New(oneLine(stderr.String()))
	}
	return nil, err
}

// withoutDependencies renders a copy of a chart from which these dependencies were removed.
func (f *finder) withoutDependencies(ctx context.Context, binary, name, dir string, names []string) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "threelaws-chart")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if err := os.CopyFS(tmp, os.DirFS(dir)); err != nil {
		return nil, err
	}
	at := filepath.Join(tmp, "Chart.yaml")
	text, err := os.ReadFile(at)
	if err != nil {
		return nil, err
	}
	var chart map[string]any
	if err := yaml.Unmarshal(text, &chart); err != nil {
		return nil, err
	}
	needs, _ := chart["dependencies"].([]any)
	chart["dependencies"] = slices.DeleteFunc(needs, func(d any) bool {
		d1, _ := d.(map[string]any)
		return slices.Contains(names, fmt.Sprint(d1["name"]))
	})
	if text, err = yaml.Marshal(chart); err != nil {
		return nil, err
	}
	if err := os.WriteFile(at, text, 0o644); err != nil {
		return nil, err
	}
	return f.template(ctx, binary, name, tmp)
}

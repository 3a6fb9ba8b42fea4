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

// errNoHelm says that charts cannot be rendered here.
var errNoHelm = errors.New("no helm binary in PATH")

// charts are the directories of the repository's Helm charts that may install
// an operator: those that run a workload and are no part of another chart.
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

// runsSomething reports whether a chart has the template of a workload.
func (f *finder) runsSomething(chart string) bool {
	return slices.ContainsFunc(f.files, func(file string) bool {
		if !strings.HasPrefix(file, chart+"/templates/") {
			return false
		}
		text, err := os.ReadFile(f.abs(file))
		return err == nil && workloadTemplate.Match(text)
	})
}

// chartName is the name that a chart gives itself.
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
	sourceLine = regexp.MustCompile(`(?m)^# Source: ([^/\s]+)/(\S+)`)
	helmError  = regexp.MustCompile(`(?m)^Error: (.*)$`)
)

// helm renders a chart, with its CRDs, by the helm binary.
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
	args := []string{"template", name, dir, "--include-crds", "--namespace", name}
	if f.opts.Version != "" {
		args = append(args, "--kube-version", f.opts.Version)
	}
	render := exec.CommandContext(ctx, binary, args...)
	render.Env = append(os.Environ(), "KUBECONFIG="+os.DevNull)
	var stdout, stderr bytes.Buffer
	render.Stdout, render.Stderr = &stdout, &stderr
	if err := render.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		text := err.Error()
		if m := helmError.FindStringSubmatch(stderr.String()); m != nil {
			text = m[1]
		} else if stderr.Len() > 0 {
			text = stderr.String()
		}
		return nil, fmt.Errorf("%s: helm template: %s: render the chart with your values to a file, and name that with "+
			"--install", f.rel(dir), oneLine(text))
	}
	var all []Object
	for _, d := range splitText(f.rel(dir), stdout.Bytes()) {
		file := d.file
		if m := sourceLine.FindSubmatch(d.text); m != nil {
			file = path.Join(f.rel(dir), string(m[2]))
		}
		objects, err := d.objects()
		if err != nil {
			return nil, fmt.Errorf("%s: helm template: %w", f.rel(dir), err)
		}
		for _, o := range objects {
			o.File, o.Line = file, 0 // the line is of the rendered text, which nobody can open
			if hook := o.GetAnnotations()["helm.sh/hook"]; hook != "" && !strings.Contains(hook, "install") {
				f.note("%s %s is a hook of the chart (%s): left out", o.GetKind(), o.GetName(), hook)
				continue
			}
			all = append(all, o)
		}
	}
	return all, nil
}

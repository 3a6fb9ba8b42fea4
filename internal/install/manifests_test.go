package install_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/threelaws/threelaws/internal/install"
)

// rights contains the objects that an operator needs to run.
const rights = `---
apiVersion: v1
kind: ServiceAccount
metadata: {name: widget-operator}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: widget-operator}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: widget-operator}
subjects: [{kind: ServiceAccount, name: widget-operator, namespace: widgets}]
`

const chart = `
-- charts/widget/Chart.yaml --
apiVersion: v2
name: widget-operator
version: 1.0.0
-- charts/widget/crds/widget.yaml --
` + crd + `
-- charts/widget/values.yaml --
enabled: true
-- charts/widget/templates/_names.tpl --
{{- define "name" }}{{ .Release.Name | trunc 63 }}{{ end }}
-- charts/widget/templates/NOTES.txt --
Create this:
---
apiVersion: v1
kind: Pod
metadata: {name: in-the-notes}
-- charts/widget/templates/deployment.yaml --
{{- if .Values.enabled }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "name" . }}
spec:
  template:
    spec:
      containers:
      - name: manager
        image: example.com/widget-operator:v1
        args: ["--name={{ .Release.Namespace }}", "--kubernetes={{ .Capabilities.KubeVersion }}"]
{{- end }}
-- charts/widget/templates/tests/test.yaml --
apiVersion: v1
kind: Pod
metadata:
  name: test
  annotations: {helm.sh/hook: test}
`

// ko returns a Deployment whose image ko builds from a package.
func ko(name, pkg string) string {
	return strings.NewReplacer("name: widget-operator", "name: "+name, "example.com/widget-operator:v1", "ko://"+pkg).
		Replace(deployment)
}

func TestInstallManifests(t *testing.T) {
	for _, c := range []struct {
		name, archive string
		opts          install.Options
		from          string // the path from which the workload is read
		notes         []string
	}{
		{"another kustomization, the most complete one", program + `
-- manifests/base/kustomization.yaml --
resources: [deployment.yaml]
-- manifests/base/deployment.yaml --
` + deployment + `
-- manifests/crds/kustomization.yaml --
resources: [crd.yaml]
-- manifests/crds/crd.yaml --
` + crd + `
-- manifests/cluster/kustomization.yaml --
resources: [../base, ../crds, rights.yaml]
-- manifests/cluster/rights.yaml --
` + rights + `
-- hack/other/kustomization.yaml --
resources: [nowhere.yaml]
`, install.Options{}, "manifests/base/deployment.yaml",
			[]string{"installed from manifests/cluster (kustomize): 1 CustomResourceDefinition, 1 ClusterRoleBinding, " +
				"1 Deployment, 1 ServiceAccount", "--install may name other manifests with the workload: manifests/base"}},
		{"what the Makefile deploys", program + `
-- Makefile --
install: manifests
	$(KUSTOMIZE) build config/crd | kubectl apply -f -
deploy: manifests
	cd config/manager && $(KUSTOMIZE) edit set image controller=${IMG}
	kubectl apply --server-side -k config/cluster
undeploy:
	$(KUSTOMIZE) build config/default | kubectl delete -f -
-- config/cluster/kustomization.yaml --
namespace: widgets
resources: [../default]
-- config/default/kustomization.yaml --
resources: [deployment.yaml]
-- config/default/deployment.yaml --
` + deployment, install.Options{}, "config/default/deployment.yaml", []string{"installed from config/cluster (kustomize): 1 Deployment"}},
		{"what the Makefile deploys cannot be rendered", program + `
-- Makefile --
deploy:
	$(KUSTOMIZE) build config/cluster | kubectl apply -f -
-- config/cluster/kustomization.yaml --
resources: [nowhere.yaml]
-- config/default/kustomization.yaml --
resources: [deployment.yaml]
-- config/default/deployment.yaml --
` + deployment, install.Options{}, "config/default/deployment.yaml",
			[]string{"config/cluster is left out", "installed from config/default (kustomize): 1 Deployment"}},
		{"a remote file is left out", program + `
-- config/default/kustomization.yaml --
resources:
- deployment.yaml
- ../other
-- config/other/kustomization.yaml --
resources:
- https://example.com/releases/other.yaml
-- config/default/deployment.yaml --
` + deployment, install.Options{}, "config/default/deployment.yaml",
			[]string{"config/other/kustomization.yaml:2: https://example.com/releases/other.yaml is remote: left out"}},
		{"the CRDs of a module take the place of a remote file", strings.Replace(program, "go 1.21\n", `go 1.21

require example.org/gadgets v1.2.3

replace example.org/gadgets => ./gadgets
`, 1) + `
-- gadgets/go.mod --
module example.org/gadgets

go 1.21
-- gadgets/config/crd/bases/gadgets.yaml --
` + strings.NewReplacer("widget", "gadget", "Widget", "Gadget").Replace(crd) + `
-- gadgets/charts/gadgets/crds/gadgets.yaml --
` + strings.NewReplacer("widget", "gadget", "Widget", "Gadget").Replace(crd) + `
-- config/default/kustomization.yaml --
resources:
- deployment.yaml
- https://github.com/example/gadgets/releases/download/v1.2.3/manifests.yaml
-- config/default/deployment.yaml --
` + deployment, install.Options{}, "config/default/deployment.yaml",
			[]string{"manifests.yaml is remote: the CRDs of module example.org/gadgets v1.2.3 take its place",
				"installed from config/default (kustomize): 1 CustomResourceDefinition, 1 Deployment"}},
		{"not those of another program", program + `
-- ui/manifests/kustomization.yaml --
resources: [ui.yaml]
-- ui/manifests/ui.yaml --
` + strings.NewReplacer("name: manager", "name: ui", "widget-operator", "widget-operator-ui").Replace(deployment) + rights + `
-- manifests/kustomization.yaml --
resources: [deployment.yaml]
-- manifests/deployment.yaml --
` + deployment, install.Options{}, "manifests/deployment.yaml", []string{"installed from manifests (kustomize)"}},
		{"a file of YAML that has all", program + `
-- deploy/operator.yaml --
` + deployment + `
-- deploy/samples.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: unrelated}
-- dist/install.yaml --
` + crd + "---\n" + deployment + rights, install.Options{}, "dist/install.yaml",
			[]string{"installed from dist/install.yaml (YAML): 1 CustomResourceDefinition, 1 ClusterRoleBinding, 1 Deployment, " +
				"1 ServiceAccount", "--install may name other manifests with the workload: deploy/operator.yaml"}},
		{"a folder of YAML with a file for each", program + `
-- deploy/operator.yaml --
` + deployment + `
-- deploy/rights.yaml --
` + rights + `
-- deploy/copy.yaml --
` + rights, install.Options{}, "deploy/operator.yaml",
			[]string{"installed from deploy (YAML)", "deploy/rights.yaml:2: ServiceAccount widget-operator is in " +
				"deploy/copy.yaml as well: left out"}},
		{"config/manager and config/rbac", program + `
-- config/manager/manager.yaml --
` + deployment + `
-- config/rbac/rights.yaml --
` + rights, install.Options{}, "config/manager/manager.yaml",
			[]string{"installed from config/manager (YAML): 1 ClusterRoleBinding, 1 Deployment, 1 ServiceAccount"}},
		{"config/default needs a file that is not there", program + `
-- config/default/kustomization.yaml --
resources: [../manager]
-- config/manager/kustomization_base.yaml --
images: []
-- config/manager/manager.yaml --
` + deployment, install.Options{}, "config/manager/manager.yaml",
			[]string{"config/manager: it has no kustomization.yaml: config/default is left out",
				"installed from config/manager/manager.yaml (YAML)"}},
		{"config/default cannot be rendered, and a released file is more complete than a part of it", program + `
-- config/default/kustomization.yaml --
resources: [../manager]
configurations: [none.yaml]
-- config/manager/kustomization.yaml --
resources: [manager.yaml]
-- config/manager/manager.yaml --
` + deployment + "-- install/operator.yaml --\n" + deployment + "---\n" + rights, install.Options{}, "install/operator.yaml",
			[]string{"config/default is left out", "installed from install/operator.yaml (YAML): 1 ClusterRoleBinding, 1 Deployment",
				"--install may name other manifests with the workload: config/manager"}},
		{"config/default cannot be rendered, and a chart is more complete than a part of it", program + chart + `
-- config/default/kustomization.yaml --
resources: [../manager]
configurations: [none.yaml]
-- config/manager/kustomization.yaml --
resources: [manager.yaml]
-- config/manager/manager.yaml --
` + deployment, install.Options{}, "charts/widget/templates/deployment.yaml",
			[]string{"config/default is left out", "installed from charts/widget (helm)",
				"--install may name other manifests with the workload: config/manager"}},
		{"a kustomization that was named", program + `
-- overlay/kustomization.yml --
resources: [deployment.yaml]
-- overlay/deployment.yaml --
` + deployment, install.Options{Install: "overlay/kustomization.yml"}, "overlay/deployment.yaml",
			[]string{"installed from overlay (kustomize)"}},
		{"a file that was named", program + "-- x/y.yaml --\n" + deployment, install.Options{Install: "x/y.yaml"}, "x/y.yaml",
			[]string{"installed from x/y.yaml (YAML): 1 Deployment"}},
		{"a folder that was named", program + "-- x/y/z.json --\n" +
			`{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": {"template": {"spec":
				{"containers": [{"name": "a", "image": "a"}]}}}}` + "\n-- x/a.txt --\nno manifest\n",
			install.Options{Install: "x"}, "x/y/z.json", []string{"installed from x (YAML): 1 Deployment"}},
		{"none, as it was said", program + "-- config/default/kustomization.yaml --\nresources: [nowhere.yaml]\n",
			install.Options{Install: "none"}, "", []string{"no install manifests, as --install none says"}},
		{"none", program, install.Options{}, "", []string{"no install manifests have the operator's workload"}},
		{"a chart", program + chart, install.Options{}, "charts/widget/templates/deployment.yaml",
			[]string{"installed from charts/widget (helm): 1 CustomResourceDefinition, 1 Deployment"}},
		{"config/default has no workload", program + chart + "-- config/default/kustomization.yaml --\nresources: [../crd.yaml]\n" +
			"-- config/crd.yaml --\n" + crd, install.Options{}, "charts/widget/templates/deployment.yaml",
			[]string{"installed from charts/widget (helm)"}},
		{"an image that ko builds", program + "-- config/widget.yaml --\n" + ko("a", "example.com/widget-operator") +
			"-- config/other/other.yaml --\n" + ko("widget-operator", "example.com/widget-operator/cmd/other") + rights,
			install.Options{}, "config/widget.yaml", nil},
		{"config/default, beside a chart", program + chart + "-- config/default/kustomization.yaml --\nresources: [d.yaml]\n-- config/default/d.yaml --\n" +
			deployment, install.Options{}, "config/default/d.yaml", []string{"--install may name other manifests with the workload: charts/widget"}},
		{"a chart that was named", program + chart + "-- config/default/kustomization.yaml --\nresources: []\n",
			install.Options{Install: "charts/widget"}, "charts/widget/templates/deployment.yaml",
			[]string{"installed from charts/widget (helm)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := found(t, c.archive, c.opts)
			from := ""
			if r.Workload != nil {
				from = r.Workload.File
			}
			if from != c.from {
				t.Errorf("the workload is from %q, want %q; notes %q", from, c.from, r.Notes)
			}
			for _, note := range c.notes {
				wantNote(t, r, note)
			}
		})
	}
}

// If config/default cannot be rendered and nothing else has the workload, the error of config/default is returned.
func TestOnlyBrokenManifests(t *testing.T) {
	_, err := find(t, program+"-- config/default/kustomization.yaml --\nresources: [nowhere.yaml]\n", install.Options{})
	wantError(t, err, "config/default/kustomization.yaml:1: nowhere.yaml: ")
	wantError(t, err, "(name other install manifests with --install PATH, or --install none)")
}

// Warnings of the kustomize library are not printed.
func TestKustomizeIsSilent(t *testing.T) {
	printed, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = printed
	found(t, program+`
-- config/default/kustomization.yaml --
resources: [deployment.yaml]
commonLabels: {app: widget}
vars: [{name: UNUSED, objref: {apiVersion: apps/v1, kind: Deployment, name: widget-operator}}]
-- config/default/deployment.yaml --
`+deployment, install.Options{})
	os.Stderr = stderr
	if text, err := os.ReadFile(printed.Name()); err != nil || len(text) > 0 {
		t.Errorf("%v %s", err, text)
	}
}

func TestChart(t *testing.T) {
	r := found(t, program+chart, install.Options{Version: "1.30.0"})
	w := r.Workload
	if w == nil || w.GetNamespace() != "widget-operator" || w.File != "charts/widget/templates/deployment.yaml" {
		t.Fatalf("workload %v", w)
	}
	if want := []string{"--name=widget-operator", "--kubernetes=v1.30.0"}; !slices.Equal(w.Container.Args, want) {
		t.Errorf("arguments %q, want %q", w.Container.Args, want)
	}
	if diff := cmp.Diff([]string{"CustomResourceDefinition /widgets.example.com charts/widget/crds/widget.yaml"},
		shown(r.CRDs)); diff != "" {
		t.Errorf("CRDs: - want, + got\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Namespace /widget-operator"}, shown(r.Objects)); diff != "" {
		t.Errorf("objects: - want, + got\n%s", diff)
	}
	wantNote(t, r, "charts/widget: its hooks for upgrades, tests and deletion are left out: Pod test")
	wantNote(t, r, "namespace widget-operator is added")
}

func TestChartDoesNotRender(t *testing.T) {
	_, err := find(t, program+strings.Replace(chart, ".Values.enabled", "required \"name it\" .Values.enable", 1),
		install.Options{})
	wantError(t, err, "charts/widget: the chart cannot be rendered: ")
	wantError(t, err, "name it: render it with your values to a file, and name that with --install")
}

// Of several charts, the one with the operator's workload is used.
func TestSeveralCharts(t *testing.T) {
	other := strings.NewReplacer("charts/widget/", "charts/proxy/", "name: widget-operator", "name: proxy",
		"example.com/widget-operator", "example.com/proxy", "name: manager", "name: envoy").Replace(chart)
	r := found(t, program+other+chart, install.Options{})
	if r.From != "charts/widget" {
		t.Errorf("installed from %q", r.From)
	}
	second := strings.ReplaceAll(other, "proxy", "gateway")
	_, err := find(t, program+other+second, install.Options{})
	wantError(t, err, "charts/gateway, charts/proxy: several Helm charts run a workload: name the operator's with --install")
}

// The dependencies of a chart that are in another directory are used. Those that were not downloaded are left out.
func TestChartWithDependencies(t *testing.T) {
	needs := strings.Replace(chart, "version: 1.0.0\n", `version: 1.0.0
dependencies:
- {name: widget-proxy, version: 1.0.0, repository: "https://example.com"}
- {name: crds, version: 1.0.0, repository: "file://../crds"}
- {name: other-proxy, version: 1.0.0, repository: "https://example.com"}
`, 1) + `
-- charts/crds/Chart.yaml --
apiVersion: v2
name: crds
version: 1.0.0
-- charts/crds/templates/gadget.yaml --
` + strings.NewReplacer("widget", "gadget", "Widget", "Gadget").Replace(crd)
	r := found(t, program+needs, install.Options{})
	if r.Workload == nil {
		t.Error("no workload")
	}
	if len(r.CRDs) != 2 {
		t.Errorf("CRDs %v", shown(r.CRDs))
	}
	wantNote(t, r, "charts/widget: the charts that it depends on are not downloaded, and left out: widget-proxy, other-proxy; ")
}

// If manifests have no namespace, their namespace is the one in which a binding expects the operator's service account.
func TestNamespaceOfBinding(t *testing.T) {
	r := found(t, program+`
-- install.yaml --
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: widgets}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: first}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: elsewhere}
---
`+strings.Replace(deployment, "      containers:", "      serviceAccountName: widget-operator\n      containers:", 1)+rights+
		"---\n"+crd, install.Options{})
	want := []string{
		"Namespace /widgets",
		"Namespace /elsewhere",
		"ServiceAccount widgets/widget-operator install.yaml",
		"ConfigMap elsewhere/config install.yaml",
		"ClusterRoleBinding /widget-operator install.yaml",
		"Widget widgets/first install.yaml",
		"ValidatingWebhookConfiguration /widgets install.yaml",
	}
	if diff := cmp.Diff(want, shown(r.Objects)); diff != "" {
		t.Errorf("objects: - want, + got\n%s", diff)
	}
	if w := r.Workload; w == nil || w.GetNamespace() != "widgets" {
		t.Errorf("workload %v, want it in namespace widgets", w)
	}
}

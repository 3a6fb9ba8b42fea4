package install_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/install"
)

func running(spec, beside string) string {
	return program + `
-- install.yaml --
apiVersion: apps/v1
kind: Deployment
metadata: {name: operator, namespace: system}
spec:
  template:
    metadata:
      labels: {app: widget, "example.com/zone": a}
    spec:
` + indented(spec) + "---\n" + beside
}

func indented(text string) string {
	return "      " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n      ") + "\n"
}

// The process is started as by a kubelet, with the command of the container or of the image.
func TestCommand(t *testing.T) {
	image := "\n-- Dockerfile --\nFROM golang\nRUN go build -o widget .\nENTRYPOINT [\"/widget\", \"--log=info\"]\nCMD [\"run\"]\n"
	for _, c := range []struct {
		name, container, image string
		args                   []string
	}{
		{"the image's", "{}", image, []string{"--log=info", "run"}},
		{"arguments replace the image's", "{args: [serve]}", image, []string{"--log=info", "serve"}},
		{"a command replaces both", "{command: [/bin/widget]}", image, nil},
		{"a command with arguments", "{command: [/widget, --a], args: [--b]}", image, []string{"--a", "--b"}},
		{"an init program", "{command: [/tini, --, /widget], args: [--b]}", image, []string{"--b"}},
		{"an init program before an unknown program", "{command: [/usr/bin/tini, --, /operator, run], args: [--b]}", "", []string{"run", "--b"}},
		{"an init program in the image", "{args: [--b]}", "\n-- Dockerfile --\nFROM golang\nRUN make\nENTRYPOINT [\"/dumb-init\", \"/operator\"]\n",
			[]string{"--b"}},
		{"an init program in the image, and the program in CMD", "{}",
			"\n-- Dockerfile --\nFROM golang\nRUN go build -o /operator .\nENTRYPOINT [\"tini\", \"--\"]\nCMD [\"/operator\", \"run\"]\n", []string{"run"}},
		{"a shell", `{command: [sh, -c, "sleep 1 && exec /widget --a='b c' > /log"]}`, image, []string{"--a=b c"}},
		{"no Dockerfile", "{args: [serve]}", "", []string{"serve"}},
		{"a subcommand with the name of a program", "{args: [manager, --a]}", "", []string{"manager", "--a"}},
		{"an unknown init program", "{args: [/manager, --a]}", "", []string{"--a"}},
		{"a template elsewhere", "{args: [serve], ports: [{containerPort: '${PORT}'}]}", "", []string{"serve"}},
		{"envsubst", `{args: ["--port=${PORT:=80}", "--gates=A=${A:-true},B=${B}"]}`, "", []string{"--port=80", "--gates=A=true,B="}},
	} {
		t.Run(c.name, func(t *testing.T) {
			container := strings.Replace(strings.Replace(c.container, "{", "{name: manager, image: widget, ", 1), ", }", "}", 1)
			w := found(t, running("containers:\n- "+container, "")+c.image, install.Options{}).Workload
			if w == nil {
				t.Fatal("no workload")
			}
			if diff := cmp.Diff(c.args, w.Process(0).Args); diff != "" {
				t.Errorf("arguments: - want, + got\n%s", diff)
			}
		})
	}
}

// An operator without install manifests has the arguments of its image.
func TestArgsOfImage(t *testing.T) {
	r := found(t, program+"-- Dockerfile --\nFROM x\nRUN go build -o widget .\nENTRYPOINT [\"/widget\"]\nCMD [\"manager\"]\n",
		install.Options{})
	if diff := cmp.Diff([]string{"manager"}, r.Args); diff != "" {
		t.Errorf("arguments: - want, + got\n%s", diff)
	}
}

func TestEnvironment(t *testing.T) {
	r := found(t, running(`
serviceAccountName: robot
containers:
- name: manager
  image: widget
  resources: {limits: {cpu: 1500m, memory: 100Mi}}
  envFrom:
  - {prefix: C_, configMapRef: {name: config}}
  - {secretRef: {name: absent}}
  - {secretRef: {name: missing, optional: true}}
  env:
  - {name: PLAIN, value: "$(C_mode)-$(PLAIN)-$$(x)"}
  - {name: EMPTY}
  - {name: POD, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
  - {name: NAMESPACE, valueFrom: {fieldRef: {fieldPath: metadata.namespace}}}
  - {name: ACCOUNT, valueFrom: {fieldRef: {fieldPath: spec.serviceAccountName}}}
  - {name: ZONE, valueFrom: {fieldRef: {fieldPath: "metadata.labels['example.com/zone']"}}}
  - {name: IP, valueFrom: {fieldRef: {fieldPath: status.podIP}}}
  - {name: CPUS, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
  - {name: MEMORY, valueFrom: {resourceFieldRef: {resource: limits.memory, divisor: 1Mi}}}
  - {name: REQUEST, valueFrom: {resourceFieldRef: {resource: requests.memory}}}
  - {name: TOKEN, valueFrom: {secretKeyRef: {name: secret, key: token}}}
  - {name: USER, valueFrom: {secretKeyRef: {name: secret, key: user}}}
  - {name: NOKEY, valueFrom: {secretKeyRef: {name: secret, key: nothing}}}
  - {name: NOSECRET, valueFrom: {secretKeyRef: {name: absent, key: x}}}
  - {name: MAYBE, valueFrom: {secretKeyRef: {name: absent, key: x, optional: true}}}
  - {name: EMPTY, value: twice}
  - {name: OTHER_IMAGE, value: "${IMG}"}
  - {name: TAG, value: "${TAG}-${NONE}"}
  - {name: OWN_IMAGE, value: "${OWN_IMG}"}
  - {name: WATCH_NAMESPACE, value: WATCH_NAMESPACE_VALUE}
  - {name: WATCH_NAMESPACES, value: "a,b-c"}
`, `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: system}
data: {mode: fast, price: "$(POD)"}
---
apiVersion: v1
kind: Secret
metadata: {name: secret, namespace: system}
data: {token: czNjcjN0}
stringData: {user: me}
---
apiVersion: v1
kind: Secret
metadata: {name: absent, namespace: elsewhere}
stringData: {x: y}
`)+"-- Makefile --\nTAG := v1\nexport IMG ?= example.com/other:$(TAG)\n", install.Options{})
	want := []string{"C_mode=fast", "C_price=$(POD)", "PLAIN=fast-$(PLAIN)-$(x)", "POD=operator-2", "NAMESPACE=system",
		"ACCOUNT=robot", "ZONE=a", "IP=10.0.0.3", "CPUS=2", "MEMORY=100", "TOKEN=s3cr3t", "USER=me", "EMPTY=twice",
		"OTHER_IMAGE=example.com/other:v1", "TAG=v1-", "OWN_IMAGE=widget", "WATCH_NAMESPACE=", "WATCH_NAMESPACES=a,b-c"}
	if diff := cmp.Diff(want, r.Workload.Process(2).Env); diff != "" {
		t.Errorf("environment: - want, + got\n%s", diff)
	}
	var own []string
	for _, o := range r.Workload.Own() {
		own = append(own, o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()+" "+o.GetLabels()["app"])
	}
	if diff := cmp.Diff([]string{"Deployment system/operator ", "Pod system/operator-0 widget", "Pod system/operator-1 widget"},
		own); diff != "" {
		t.Errorf("its own objects: - want, + got\n%s", diff)
	}
	for _, note := range []string{
		"${IMG} in the workload is taken to be its value in the Makefile",
		"${NONE} in the workload is taken to be empty",
		"${OWN_IMG} in the workload is taken to be the image of the workload",
		"WATCH_NAMESPACE=WATCH_NAMESPACE_VALUE names no namespace: it is empty, so the operator watches all namespaces",
		"Secret absent, from which the operator takes its environment, is not in the manifests",
		"variable REQUEST is not set: the container has no requests.memory",
		"variable NOKEY is not set: Secret secret has no key nothing",
		"variable NOSECRET is not set: Secret absent is not in the manifests",
	} {
		wantNote(t, r, note)
	}
}

func TestMounts(t *testing.T) {
	r := found(t, running(`
initContainers:
- {name: setup, image: setup}
containers:
- {name: proxy, image: proxy}
- name: manager
  image: widget
  workingDir: /work
  volumeMounts:
  - {name: certs, mountPath: /certs, readOnly: true}
  - {name: config, mountPath: /config.yaml, subPath: config.yaml}
  - {name: scratch, mountPath: /tmp}
  - {name: all, mountPath: /all}
  - {name: disk, mountPath: /disk}
  - {name: nothing, mountPath: /nothing}
volumes:
- {name: certs, secret: {secretName: certs, optional: true, items: [{key: tls.crt, path: crt}]}}
- {name: config, configMap: {name: config}}
- {name: scratch, emptyDir: {}}
- name: all
  projected:
    sources:
    - {secret: {name: certs}}
    - {serviceAccountToken: {path: token}}
    - {downwardAPI: {items: [{path: labels, fieldRef: {fieldPath: metadata.labels}}]}}
- {name: disk, hostPath: {path: /}}
`, `apiVersion: v1
kind: ConfigMap
metadata: {name: config, namespace: system}
`), install.Options{})
	want := []install.Mount{
		{Path: "/certs", Sources: []install.Source{
			{Kind: "Secret", Name: "certs", Items: []corev1.KeyToPath{{Key: "tls.crt", Path: "crt"}}}}},
		{Path: "/config.yaml", SubPath: "config.yaml", Sources: []install.Source{{Kind: "ConfigMap", Name: "config"}}},
		{Path: "/tmp"},
		{Path: "/all", Sources: []install.Source{{Kind: "Secret", Name: "certs"}}},
		{Path: "/disk"},
	}
	if diff := cmp.Diff(want, r.Workload.Mounts); diff != "" {
		t.Errorf("mounts: - want, + got\n%s", diff)
	}
	if c := r.Workload.Container; c.WorkingDir != "/work" || c.Name != "manager" {
		t.Errorf("container %s in %s, want manager in /work", c.Name, c.WorkingDir)
	}
	wantNote(t, r, "Secret certs, mounted at /all, is not in the manifests; --with FILE gives it")
	wantNote(t, r, "a hostPath volume is mounted at /disk: it is an empty folder")
	wantNote(t, r, "nothing is not a volume of Deployment operator: /nothing is not mounted")
	wantNote(t, r, "containers setup, proxy of Deployment operator are not run")
}

func workloads(lines ...string) string {
	text := "-- install.yaml --\n"
	for _, line := range lines {
		f := strings.Fields(line + " -")
		command := ""
		if f[2] != "-" {
			command = ", command: [" + f[2] + "]"
		}
		text += "---\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: " + f[0] +
			"}\nspec: {replicas: 0, template: {spec: {containers: [{name: c, image: " + f[1] + command + "}]}}}\n"
	}
	return text
}

func TestWorkload(t *testing.T) {
	image := "-- Dockerfile --\nFROM x\nRUN go build -o widget .\nENTRYPOINT [\"/widget\"]\n"
	for _, c := range []struct {
		name, archive string
		opts          install.Options
		want          string
	}{
		{"by its command", image + workloads("a x /other", "b x /bin/widget"), install.Options{Install: "install.yaml"}, "b"},
		{"by its image", workloads("a x", "b ghcr.io/x/widget-operator:v1@sha256:00"), install.Options{Install: "install.yaml"}, "b"},
		{"by its name", workloads("a x", "the-widget-operator x"), install.Options{Install: "install.yaml"}, "the-widget-operator"},
		{"no webhook", workloads("widget-operator-webhook widget-operator", "widget-operator widget-operator"),
			install.Options{Install: "install.yaml"}, "widget-operator"},
		{"the only one", workloads("a x"), install.Options{Install: "install.yaml"}, "a"},
		{"as it was named", workloads("a x", "widget-operator x"), install.Options{Install: "install.yaml", Workload: "a"}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := found(t, program+c.archive, c.opts)
			if r.Workload == nil || r.Workload.GetName() != c.want {
				t.Fatalf("workload %v, want %s", r.Workload, c.want)
			}
			wantNote(t, r, c.want+" has no replicas: it is taken to have one")
			for _, o := range r.Objects {
				if o.GetName() == c.want {
					t.Errorf("the workload %s is also among the objects", c.want)
				}
			}
		})
	}
	bad := strings.Replace(workloads("a x"), "image: x", "image: x, resources: {limits: {cpu: lots}}", 1)
	wantNote(t, found(t, program+bad, install.Options{Install: "install.yaml"}),
		"install.yaml:2: the pod template of StatefulSet a cannot be read: ")
	_, err := find(t, program+workloads("a x", "b x"), install.Options{Install: "install.yaml"})
	wantError(t, err, "several workloads may run the operator: StatefulSet a (install.yaml:2), StatefulSet b (install.yaml:7): "+
		"name one with --workload")
	_, err = find(t, program+workloads("a x", "b x"), install.Options{Install: "install.yaml", Workload: "c"})
	wantError(t, err, "--workload c: the install manifests have only a, b")
}

// The operator runs in the main container of its pod, also if the command has another name than the main package.
func TestContainer(t *testing.T) {
	image := "-- Dockerfile --\nFROM x\nRUN go build -o widget .\nENTRYPOINT [\"/widget\"]\n"
	pod := func(annotations, containers string) string {
		return "-- install.yaml --\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: widget-operator}\n" +
			"spec: {template: {metadata: {annotations: {" + annotations + "}}, spec: {containers: [" + containers + "]}}}\n"
	}
	manager := "{name: manager, image: controller, command: [/manager]}"
	for _, c := range []struct{ name, pod, want string }{
		{"a proxy comes first", pod("", "{name: kube-rbac-proxy, image: example.com/kube-rbac-proxy}, "+manager), "manager"},
		{"an annotation names it", pod("kubectl.kubernetes.io/default-container: manager",
			"{name: logs, image: example.com/logs}, "+manager), "manager"},
		{"its command names it", pod("", "{name: logs, image: example.com/logs}, {name: proxy, image: x, command: [/widget]}"), "proxy"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := found(t, program+image+c.pod, install.Options{Install: "install.yaml"})
			if r.Workload == nil || r.Workload.Container.Name != c.want {
				t.Fatalf("workload %+v, want the container %s", r.Workload, c.want)
			}
		})
	}
}

// Webhooks of a workload that does not run are left out. The operator's webhooks are kept.
func TestWebhooksOfAnotherWorkload(t *testing.T) {
	serves := func(name, service string) string {
		return `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: ` + name + `}
webhooks:
- {name: a.example.com, clientConfig: {service: {namespace: default, name: ` + service + `}}}
- {name: b.example.com, clientConfig: {service: {namespace: default, name: admission}}}
`
	}
	r := found(t, program+`
-- crd.yaml --
`+strings.Replace(crd, "spec:\n", "spec:\n  conversion: {strategy: Webhook, webhook: {clientConfig: {service: {namespace: default, name: admission}}}}\n", 1)+`
-- install.yaml --
`+strings.Replace(deployment, "  template:\n", "  template:\n    metadata: {labels: {app: operator}}\n", 1)+`---
apiVersion: apps/v1
kind: Deployment
metadata: {name: admission}
spec: {template: {metadata: {labels: {app: admission}}, spec: {containers: [{name: admission, image: example.com/other}]}}}
---
apiVersion: v1
kind: Service
metadata: {name: operator}
spec: {selector: {app: operator}}
---
apiVersion: v1
kind: Service
metadata: {name: admission}
spec: {selector: {app: admission}}
---
`+serves("mixed", "operator")+"---\n"+serves("another", "admission"), install.Options{Install: "install.yaml"})
	for _, o := range r.Objects {
		if hooks, _, _ := unstructured.NestedSlice(o.Object, "webhooks"); o.GetName() == "another" || o.GetName() == "mixed" && len(hooks) != 1 {
			t.Errorf("%s has %d webhooks", o.GetName(), len(hooks))
		}
	}
	if _, has, _ := unstructured.NestedMap(r.CRDs[0].Object, "spec", "conversion"); has {
		t.Error("the CRD still has a conversion webhook")
	}
	wantNote(t, r, "1 of 2 webhooks of mixed are left out: Deployment admission serves them, for which no program runs")
	wantNote(t, r, "2 of 2 webhooks of another are left out: ")
}

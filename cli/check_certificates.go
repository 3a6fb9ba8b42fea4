package cli

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/sim/agent"
)

// certify stands in for cert-manager: it adds the Secrets that Certificates of the manifests ask for, and those that
// the operator mounts for its webhooks and nothing makes, and fills the CA bundles that go with them.
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
	op.eachClientConfig(func(config map[string]any) {
		if bundle, _ := config["caBundle"].(string); bundle == "" || bundle == "Cg==" { // a placeholder of manifests
			config["caBundle"] = base64.StdEncoding.EncodeToString([]byte(agent.Authority))
		}
	})
}

// find returns an installed object, nil for none.
func (op *operator) find(kind, namespace, name string) *unstructured.Unstructured {
	i := slices.IndexFunc(op.Installed, func(o *unstructured.Unstructured) bool {
		return o.GetKind() == kind && o.GetNamespace() == namespace && o.GetName() == name
	})
	if i < 0 {
		return nil
	}
	return op.Installed[i]
}

// certificate adds a Secret with a certificate, unless one of that name is installed with data.
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
	op.Notes = slices.DeleteFunc(op.Notes, func(note string) bool { // which asks for what is made here
		return strings.HasPrefix(note, "Secret "+name+", mounted at ") && strings.Contains(note, "--with FILE gives it")
	})
	op.Notes = append(op.Notes, fmt.Sprintf("Secret %s/%s is made with a certificate for %s", namespace, name,
		strings.Join(hosts, ", ")))
	return true
}

// webhookServices are the host names of the services whose webhooks are configured.
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

// eachClientConfig visits how each webhook of admission and of conversion is reached.
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

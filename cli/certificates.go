package cli

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/threelaws/threelaws/internal/agent"
	"github.com/threelaws/threelaws/internal/check"
)

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
	op.trust()
}

// trust sets the missing CA bundles of webhooks.
func (op *operator) trust() {
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

// lacked matches the error of a program that did not find the certificate of its webhooks.
var lacked = regexp.MustCompile(`open (/\S+)/tls\.(?:crt|key): no such file or directory`)

// addCertificate mounts a certificate for the operator's webhooks, if err says that the operator did not find one. It
// returns the directory of the certificate, or "".
func (op *operator) addCertificate(err error) (dir string) {
	match := lacked.FindStringSubmatch(saidBy(err))
	if match == nil || op.Mount == nil {
		return ""
	}
	secret := "threelaws-certificate"
	hosts := op.webhookServices()
	if len(hosts) == 0 {
		hosts = []string{"localhost"}
	}
	if !op.certificate(op.Mount(secret, match[1]), secret, hosts) {
		return ""
	}
	op.trust()
	op.Mount = nil // one certificate is enough
	return match[1]
}

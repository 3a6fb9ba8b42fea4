package install

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Workload is what runs the operator, and how its process is started.
type Workload struct {
	Object
	ServiceAccount string
	Container      string
	Program        string // the first word of the command, "" if neither manifest nor Dockerfile has it
	WorkingDir     string // "" is the image's
	Replicas       int
	Mounts         []Mount

	command []string
	env     []variableOf
}

// Process is how one pod of a workload starts the operator.
type Process struct {
	Pod  string   // its name
	Args []string // behind the program
	Env  []string // "NAME=value", in the order of the manifest, each name once
}

// Mount is a volume in the operator's file system.
type Mount struct {
	Path     string
	SubPath  string // of the volume, "" is all of it
	ReadOnly bool
	Sources  []Source // what the volume shows; an empty one has none
}

// Source is an object or a value whose content a volume shows.
type Source struct {
	Kind     string // Secret, ConfigMap, DownwardAPI, ServiceAccountToken, or the field of another volume: "hostPath"
	Name     string // of the object, in the workload's namespace
	Items    []Item // empty means every key under its own name
	Optional bool   // the object may be missing
}

// Item shows a key under a path.
type Item struct {
	Key  string // of the object; a field of the pod for DownwardAPI; "" for ServiceAccountToken
	Path string
}

// variableOf is a variable of the environment. Its value may depend on the pod.
type variableOf struct {
	name, value string
	field       string // of the pod, "" for a plain value
}

// describe says how the picked container starts.
func (f *finder) describe(context.Context) error {
	p := f.picked
	if p == nil {
		if command := f.command(nil); len(command) > 1 {
			f.Args = command[1:]
		}
		return nil
	}
	w := &Workload{Object: p.Object, ServiceAccount: p.serviceAccount(), Replicas: 1}
	w.Container, _ = p.container["name"].(string)
	w.WorkingDir, _ = p.container["workingDir"].(string)
	if replicas, ok, _ := unstructured.NestedInt64(p.Object.Object, "spec", "replicas"); ok && p.GetKind() != "DaemonSet" {
		w.Replicas = int(replicas)
	}
	f.Workload = w
	f.note("%s %s/%s runs the operator (%s)", w.GetKind(), w.GetNamespace(), w.GetName(), w.place())
	if w.Replicas == 0 {
		f.note("%s %s has no replicas: it is taken to have one", w.GetKind(), w.GetName())
		w.Replicas = 1
	}
	w.command = f.command(p.container)
	w.Program = w.command[0]
	for i, word := range w.command {
		w.command[i] = f.defaults(word)
	}
	f.readEnv(w, p)
	f.readMounts(w, p)
	var besides []string
	for _, field := range []string{"initContainers", "containers"} {
		list, _ := p.pod[field].([]any)
		for _, c := range list {
			if c, _ := c.(map[string]any); c["name"] != p.container["name"] {
				besides = append(besides, fmt.Sprint(c["name"]))
			}
		}
	}
	if len(besides) > 0 {
		f.note("containers %s of %s %s are not run", strings.Join(besides, ", "), w.GetKind(), w.GetName())
	}
	return nil
}

// command is the whole command line of a container. As kubelet has it, a command
// replaces the image's entry point and arguments, and arguments replace the
// image's arguments.
func (f *finder) command(container map[string]any) []string {
	command, args := texts(container["command"]), texts(container["args"])
	if r := f.names.image; len(command) == 0 && r != nil {
		command = slices.Clone(r.entry)
		more := command[min(1, len(command)):]
		if len(args) == 0 {
			args = r.cmd
			more = slices.Concat(more, args)
		}
		if len(more) > 0 {
			f.note("arguments from %s: %s", r.file, strings.Join(more, " "))
		}
	}
	if len(command) == 0 {
		command = []string{""}
	}
	command = slices.Concat(command, args)
	if shell := path.Base(command[0]); (shell == "sh" || shell == "bash") && len(command) > 2 && command[1] == "-c" {
		f.note("a shell starts the operator: only its own arguments are taken from: %s", oneLine(command[2]))
		command = shellWords(command[2])
		command = command[f.program(command):]
		if end := slices.IndexFunc(command, endsCommand); end > 0 {
			command = command[:end]
		}
	}
	return command[f.program(command):]
}

// program is the index of the operator's program in a command line, behind
// programs that only start it.
func (f *finder) program(command []string) int {
	return max(0, slices.IndexFunc(command, func(word string) bool {
		return slices.Contains(f.names.binaries, path.Base(word))
	}))
}

// templated is a variable that some projects fill in with envsubst. Kubernetes
// leaves it as it is.
var templated = regexp.MustCompile(`\$\{(\w+)(?::?[-=]([^}]*))?\}`)

// defaults replaces the variables of envsubst by their defaults.
func (f *finder) defaults(text string) string {
	return templated.ReplaceAllStringFunc(text, func(ref string) string {
		m := templated.FindStringSubmatch(ref)
		f.note("${NAME:=value} in the workload is taken to be the value, as envsubst does: --args and --env give others")
		return m[2]
	})
}

// Process returns how the replica of a number, from 0, starts.
func (w *Workload) Process(replica int) Process {
	p := Process{Pod: fmt.Sprintf("%s-%d", w.GetName(), replica)}
	values := map[string]string{}
	for _, v := range w.env {
		value := expandEnv(v.value, values)
		if v.field != "" {
			value = w.field(v.field, p.Pod, replica)
		}
		if _, again := values[v.name]; again {
			p.Env = slices.DeleteFunc(p.Env, func(have string) bool { return strings.HasPrefix(have, v.name+"=") })
		}
		values[v.name] = value
		p.Env = append(p.Env, v.name+"="+value)
	}
	for i, word := range w.command {
		if word = expandEnv(word, values); i > 0 {
			p.Args = append(p.Args, word)
		}
	}
	return p
}

// field is the value of a field of a pod of the workload.
func (w *Workload) field(field, pod string, replica int) string {
	template, _, _ := unstructured.NestedMap(w.Object.Object, "spec", "template", "metadata")
	if name, ok := strings.CutPrefix(field, "metadata.labels['"); ok {
		value, _, _ := unstructured.NestedString(template, "labels", strings.TrimSuffix(name, "']"))
		return value
	}
	if name, ok := strings.CutPrefix(field, "metadata.annotations['"); ok {
		value, _, _ := unstructured.NestedString(template, "annotations", strings.TrimSuffix(name, "']"))
		return value
	}
	switch field {
	case "metadata.name":
		return pod
	case "metadata.namespace":
		return w.GetNamespace()
	case "metadata.uid":
		return fmt.Sprintf("00000000-0000-4000-8000-%012d", replica+1)
	case "spec.serviceAccountName":
		return w.ServiceAccount
	case "spec.nodeName":
		return "node"
	case "status.podIP", "status.podIPs":
		return fmt.Sprintf("10.0.0.%d", replica+1)
	case "status.hostIP", "status.hostIPs":
		return "10.1.0.1"
	}
	return ""
}

// expandEnv replaces $(NAME) as kubelet does: an unknown name stays, and $$ is
// one $.
func expandEnv(text string, values map[string]string) string {
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '$' || i+1 == len(text) {
			out.WriteByte(text[i])
			continue
		}
		switch text[i+1] {
		case '$':
			out.WriteByte('$')
			i++
			continue
		case '(':
			if end := strings.IndexByte(text[i:], ')'); end > 0 {
				name := text[i+2 : i+end]
				if value, ok := values[name]; ok {
					out.WriteString(value)
				} else {
					out.WriteString(text[i : i+end+1])
				}
				i += end
				continue
			}
		}
		out.WriteByte('$')
	}
	return out.String()
}

// readEnv reads the environment of a container, with the Secrets and ConfigMaps
// of the manifests.
func (f *finder) readEnv(w *Workload, p *picked) {
	from, _ := p.container["envFrom"].([]any)
	for _, source := range from {
		source, _ := source.(map[string]any)
		prefix, _ := source["prefix"].(string)
		for _, kind := range []string{"ConfigMap", "Secret"} {
			ref, _ := source[map[string]string{"ConfigMap": "configMapRef", "Secret": "secretRef"}[kind]].(map[string]any)
			name, _ := ref["name"].(string)
			if name == "" {
				continue
			}
			data, ok := f.data(kind, w.GetNamespace(), name)
			if !ok && ref["optional"] != true {
				f.note("%s %s, from which the operator takes its environment, is not in the manifests: left out", kind, name)
			}
			for _, key := range slices.Sorted(maps.Keys(data)) {
				w.env = append(w.env, variableOf{name: prefix + key, value: strings.ReplaceAll(data[key], "$", "$$")})
			}
		}
	}
	list, _ := p.container["env"].([]any)
	for _, entry := range list {
		entry, _ := entry.(map[string]any)
		name, _ := entry["name"].(string)
		from, _ := entry["valueFrom"].(map[string]any)
		if name == "" {
			continue
		}
		if from == nil {
			value, _ := entry["value"].(string)
			w.env = append(w.env, variableOf{name: name, value: f.defaults(value)})
			continue
		}
		v := variableOf{name: name}
		why := ""
		switch {
		case from["fieldRef"] != nil:
			v.field, _, _ = unstructured.NestedString(from, "fieldRef", "fieldPath")
		case from["resourceFieldRef"] != nil:
			v.value, why = limit(p.container, from["resourceFieldRef"])
		case from["configMapKeyRef"] != nil:
			v.value, why = f.key("ConfigMap", w.GetNamespace(), from["configMapKeyRef"])
		case from["secretKeyRef"] != nil:
			v.value, why = f.key("Secret", w.GetNamespace(), from["secretKeyRef"])
		default:
			why = "its source is not known"
		}
		switch why {
		case "":
			w.env = append(w.env, v)
		case "optional":
		default:
			f.note("variable %s is not set: %s; --with FILE gives it, --env sets it", name, why)
		}
	}
}

// data is the content of a Secret or a ConfigMap of the manifests.
func (f *finder) data(kind, namespace, name string) (map[string]string, bool) {
	for _, o := range f.Objects {
		if o.GetKind() != kind || o.GetAPIVersion() != "v1" || o.GetNamespace() != namespace || o.GetName() != name {
			continue
		}
		all := map[string]string{}
		data, _, _ := unstructured.NestedMap(o.Object, "data")
		for key, value := range data {
			text, _ := value.(string)
			if kind == "Secret" {
				if decoded, err := base64.StdEncoding.DecodeString(text); err == nil {
					text = string(decoded)
				}
			}
			all[key] = text
		}
		plain, _, _ := unstructured.NestedStringMap(o.Object, "stringData")
		for key, value := range plain {
			all[key] = value
		}
		return all, true
	}
	return nil, false
}

// key is the value of a key of a Secret or a ConfigMap, or why there is none.
func (f *finder) key(kind, namespace string, ref any) (value, why string) {
	r, _ := ref.(map[string]any)
	name, _ := r["name"].(string)
	key, _ := r["key"].(string)
	data, ok := f.data(kind, namespace, name)
	if value, has := data[key]; has {
		return strings.ReplaceAll(value, "$", "$$"), ""
	}
	switch {
	case r["optional"] == true:
		return "", "optional"
	case !ok:
		return "", fmt.Sprintf("%s %s is not in the manifests", kind, name)
	default:
		return "", fmt.Sprintf("%s %s has no key %s", kind, name, key)
	}
}

// limit is the value of a resource field, in units of its divisor and rounded
// up, or why there is none.
func limit(container map[string]any, ref any) (value, why string) {
	r, _ := ref.(map[string]any)
	field, _ := r["resource"].(string)
	kind, name, _ := strings.Cut(field, ".")
	resources, _ := container["resources"].(map[string]any)
	list, _ := resources[kind].(map[string]any)
	quantity, err := resource.ParseQuantity(fmt.Sprint(list[name]))
	if err != nil {
		return "", fmt.Sprintf("the container has no %s", field)
	}
	divisor := resource.MustParse("1")
	if text := fmt.Sprint(r["divisor"]); r["divisor"] != nil && text != "0" {
		if divisor, err = resource.ParseQuantity(text); err != nil || divisor.IsZero() {
			return "", fmt.Sprintf("%s is no divisor", text)
		}
	}
	if name == "cpu" {
		return fmt.Sprint((quantity.MilliValue() + divisor.MilliValue() - 1) / divisor.MilliValue()), ""
	}
	return fmt.Sprint((quantity.Value() + divisor.Value() - 1) / divisor.Value()), ""
}

// readMounts reads what volumes the container sees.
func (f *finder) readMounts(w *Workload, p *picked) {
	volumes := map[string]map[string]any{}
	list, _ := p.pod["volumes"].([]any)
	for _, v := range list {
		v, _ := v.(map[string]any)
		name, _ := v["name"].(string)
		volumes[name] = v
	}
	claims, _, _ := unstructured.NestedSlice(p.Object.Object, "spec", "volumeClaimTemplates")
	for _, c := range claims {
		c, _ := c.(map[string]any)
		name, _, _ := unstructured.NestedString(c, "metadata", "name")
		volumes[name] = map[string]any{"name": name, "persistentVolumeClaim": map[string]any{"claimName": name}}
	}
	mounts, _ := p.container["volumeMounts"].([]any)
	for _, m := range mounts {
		m, _ := m.(map[string]any)
		mount := Mount{ReadOnly: m["readOnly"] == true}
		mount.Path, _ = m["mountPath"].(string)
		mount.SubPath, _ = m["subPath"].(string)
		if text, _ := m["subPathExpr"].(string); text != "" {
			mount.SubPath = text
		}
		name, _ := m["name"].(string)
		volume, ok := volumes[name]
		if !ok {
			f.note("%s is no volume of %s %s: %s is not mounted", name, w.GetKind(), w.GetName(), mount.Path)
			continue
		}
		mount.Sources = sources(volume)
		for _, s := range mount.Sources {
			switch s.Kind {
			case "Secret", "ConfigMap":
				if _, ok := f.data(s.Kind, w.GetNamespace(), s.Name); !ok && !s.Optional {
					f.note("%s %s, mounted at %s, is not in the manifests; --with FILE gives it", s.Kind, s.Name, mount.Path)
				}
			case "DownwardAPI", "ServiceAccountToken":
			default:
				f.note("a %s volume is mounted at %s: it is an empty folder", s.Kind, mount.Path)
			}
		}
		w.Mounts = append(w.Mounts, mount)
	}
}

// sources are what a volume shows.
func sources(volume map[string]any) []Source {
	for field, value := range volume {
		v, _ := value.(map[string]any)
		switch field {
		case "name", "emptyDir":
		case "projected":
			var all []Source
			list, _ := v["sources"].([]any)
			for _, part := range list {
				part, _ := part.(map[string]any)
				all = append(all, sources(part)...)
			}
			return all
		case "secret":
			name, _ := v["secretName"].(string)
			if name == "" {
				name, _ = v["name"].(string) // in a projected volume
			}
			return []Source{{"Secret", name, items(v["items"]), v["optional"] == true}}
		case "configMap":
			name, _ := v["name"].(string)
			return []Source{{"ConfigMap", name, items(v["items"]), v["optional"] == true}}
		case "downwardAPI":
			return []Source{{"DownwardAPI", "", items(v["items"]), false}}
		case "serviceAccountToken":
			at, _ := v["path"].(string)
			return []Source{{"ServiceAccountToken", "", []Item{{"", at}}, false}}
		default:
			return []Source{{Kind: field}}
		}
	}
	return nil
}

func items(list any) []Item {
	var all []Item
	entries, _ := list.([]any)
	for _, entry := range entries {
		entry, _ := entry.(map[string]any)
		var item Item
		item.Key, _ = entry["key"].(string)
		item.Path, _ = entry["path"].(string)
		if field, _, _ := unstructured.NestedString(entry, "fieldRef", "fieldPath"); field != "" {
			item.Key = field
		}
		all = append(all, item)
	}
	return all
}

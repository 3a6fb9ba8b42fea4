package install

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Workload is the workload that runs the operator.
type Workload struct {
	Object
	Pod       *corev1.PodTemplateSpec
	Container *corev1.Container // the operator's container, in Pod
	Mounts    []Mount

	command []string
	env     []variableOf
}

// ServiceAccount returns the name of the service account of the workload's pods.
func (w *Workload) ServiceAccount() string { return serviceAccount(w.Pod) }

// Mount is a volume that is mounted in the operator's container.
type Mount struct {
	Path    string
	SubPath string   // the path in the volume; "" for the whole volume
	Sources []Source // nil if the volume does not show Secrets or ConfigMaps
}

// Source is a Secret or ConfigMap that a volume shows.
type Source struct {
	Kind  string             // Secret or ConfigMap
	Name  string             // the name of an object in the workload's namespace
	Items []corev1.KeyToPath // the keys to show; empty for all keys under their own names
}

func (f *finder) describe(context.Context) error {
	p := f.picked
	if p == nil {
		if command := f.command(&corev1.Container{}); len(command) > 1 {
			f.Args = command[1:]
		}
		return nil
	}
	w := &Workload{Object: p.Object, Pod: p.pod, Container: p.container, command: f.command(p.container)}
	f.Workload = w
	f.note("%s %s/%s runs the operator (%s)", w.GetKind(), w.GetNamespace(), w.GetName(), w.place())
	if n, is, _ := unstructured.NestedInt64(w.Object.Object, "spec", "replicas"); is && n == 0 && w.GetKind() != "DaemonSet" {
		f.note("%s %s has no replicas: it is taken to have one", w.GetKind(), w.GetName())
	}
	for i, word := range w.command {
		w.command[i] = f.defaults(w, word)
	}
	f.readEnv(w)
	f.readMounts(w)
	var besides []string
	for _, c := range slices.Concat(w.Pod.Spec.InitContainers, w.Pod.Spec.Containers) {
		if c.Name != w.Container.Name {
			besides = append(besides, c.Name)
		}
	}
	if len(besides) > 0 {
		f.note("containers %s of %s %s are not run", strings.Join(besides, ", "), w.GetKind(), w.GetName())
	}
	return nil
}

// command returns the command line of a container, by the kubelet's rules: command replaces the image's entry point and
// arguments, and args replaces only the arguments. If a shell or another program starts the operator, the command line
// begins with the operator's program.
func (f *finder) command(container *corev1.Container) []string {
	command, args := slices.Clone(container.Command), container.Args
	if r := f.names.image; len(command) == 0 && r != nil {
		command = slices.Clone(r.entry)
		from := command
		if len(args) == 0 {
			args = r.cmd
			from = slices.Concat(command, args)
		}
		if more := withoutInit(from); len(more) > 1 {
			f.note("arguments from %s: %s", r.file, strings.Join(more[1:], " "))
		}
	}
	if len(command) == 0 {
		// The entry point is unknown. An argument with a path may be the operator's program. A single word may be a
		// subcommand, even if a binary has the same name.
		if i := f.program(args); i < len(args) && path.IsAbs(args[i]) && slices.Contains(f.names.binaries, path.Base(args[i])) {
			return args[i:]
		}
		return slices.Concat([]string{""}, args)
	}
	command = withoutInit(slices.Concat(command, args))
	if len(command) == 0 {
		return []string{""}
	}
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

// program returns the index of the operator's program in a command line that may begin with a shell. The default is 0.
func (f *finder) program(command []string) int {
	return max(0, slices.IndexFunc(command, func(word string) bool {
		return slices.Contains(f.names.binaries, path.Base(word))
	}))
}

// templated matches an envsubst variable such as ${NAME:=value}. Kubernetes does not replace these variables.
var templated = regexp.MustCompile(`\$\{(\w+)(?::?[-=]([^}]*))?\}`)

// defaults replaces envsubst variables by their default values. A variable without a default has its value in the Makefile.
// If it has none there, and its name is one of an image, it becomes the image of the workload.
func (f *finder) defaults(w *Workload, text string) string {
	return templated.ReplaceAllStringFunc(text, func(ref string) string {
		m := templated.FindStringSubmatch(ref)
		if m[2] != "" {
			f.note("${NAME:=value} in the workload is taken to be the value, as envsubst does: --args and --env give others")
			return m[2]
		}
		value, from := f.makefile().values[m[1]], "its value in the Makefile"
		if value == "" || strings.Contains(value, "$") {
			value, from = "", "empty"
			if strings.Contains(m[1], "IMG") || strings.Contains(m[1], "IMAGE") {
				value, from = w.Container.Image, "the image of the workload"
			}
		}
		f.note("%s in the workload is taken to be %s: --args and --env give another value", ref, from)
		return value
	})
}

func (f *finder) readMounts(w *Workload) {
	volumes := map[string]corev1.VolumeSource{}
	for _, v := range w.Pod.Spec.Volumes {
		volumes[v.Name] = v.VolumeSource
	}
	claims, _, _ := unstructured.NestedSlice(w.Object.Object, "spec", "volumeClaimTemplates")
	for _, c := range claims {
		c, _ := c.(map[string]any)
		name, _, _ := unstructured.NestedString(c, "metadata", "name")
		volumes[name] = corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}
	}
	for _, m := range w.Container.VolumeMounts {
		mount := Mount{Path: m.MountPath, SubPath: cmp.Or(m.SubPathExpr, m.SubPath)}
		volume, ok := volumes[m.Name]
		if !ok {
			f.note("%s is not a volume of %s %s: %s is not mounted", m.Name, w.GetKind(), w.GetName(), mount.Path)
			continue
		}
		for _, p := range projections(&volume) {
			if s := p.Secret; s != nil {
				mount.add(f, w, "Secret", s.Name, s.Items, s.Optional)
			}
			if c := p.ConfigMap; c != nil {
				mount.add(f, w, "ConfigMap", c.Name, c.Items, c.Optional)
			}
		}
		if sort := sortOf(&volume); !slices.Contains([]string{"", "emptyDir", "projected", "secret", "configMap", "downwardAPI"}, sort) {
			f.note("a %s volume is mounted at %s: it is an empty folder", sort, mount.Path)
		}
		w.Mounts = append(w.Mounts, mount)
	}
}

func (m *Mount) add(f *finder, w *Workload, kind, name string, items []corev1.KeyToPath, optional *bool) {
	m.Sources = append(m.Sources, Source{kind, name, items})
	if _, ok := f.data(kind, w.GetNamespace(), name); !ok && !isTrue(optional) {
		f.note("%s %s, mounted at %s, is not in the manifests; --with FILE gives it", kind, name, m.Path)
	}
}

// projections returns the sources of a projected volume. For a Secret or ConfigMap volume, it returns one source with
// this Secret or ConfigMap. It returns nil for other volumes.
func projections(v *corev1.VolumeSource) []corev1.VolumeProjection {
	switch {
	case v.Projected != nil:
		return v.Projected.Sources
	case v.Secret != nil:
		return []corev1.VolumeProjection{{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: v.Secret.SecretName},
			Items:                v.Secret.Items, Optional: v.Secret.Optional}}}
	case v.ConfigMap != nil:
		return []corev1.VolumeProjection{{ConfigMap: &corev1.ConfigMapProjection{
			LocalObjectReference: v.ConfigMap.LocalObjectReference,
			Items:                v.ConfigMap.Items, Optional: v.ConfigMap.Optional}}}
	}
	return nil
}

// sortOf returns the volume's type: the name of the field that is set, for example "hostPath".
func sortOf(v *corev1.VolumeSource) string {
	fields, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(v)
	for field := range fields {
		return field
	}
	return ""
}

func isTrue(b *bool) bool { return b != nil && *b }

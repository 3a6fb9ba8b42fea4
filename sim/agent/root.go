package agent

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Projection is a Secret or a ConfigMap that the program reads as files, as kubelet projects it.
type Projection struct {
	Kind, Namespace, Name string            // "Secret" or "ConfigMap"
	Path                  string            // of the volume's mount
	Keys                  map[string]string // key -> path below Path; nil projects every key under its own name
}

// kubeconfig names the world alone.
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: world, cluster: {server: "http://apiserver"}}]
users: [{name: operator, user: {token: threelaws}}]
contexts: [{name: world, context: {cluster: world, user: operator, namespace: %s}}]
current-context: world
`

// serviceAccount is where kubelet mounts the files of the in-cluster configuration.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/"

// home is the home directory of a program. It is empty.
const home = "/home/operator"

// root makes the folder that belongs to one process. The program reads the files there before those of the
// machine, and writes there.
func (b *Binary) root() (string, error) {
	root, err := os.MkdirTemp("", "threelaws-root")
	if err != nil {
		return "", err
	}
	namespace := b.Namespace
	if namespace == "" {
		namespace = "default"
	}
	files := map[string]string{
		"/kubeconfig":                fmt.Sprintf(kubeconfig, namespace),
		serviceAccount + "token":     "threelaws",
		serviceAccount + "namespace": namespace,
		serviceAccount + "ca.crt":    Authority,
	}
	dirs := []string{home, "/tmp", b.WorkingDir}
	for _, dir := range dirs {
		err = errors.Join(err, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	for path, text := range files { //detcheck:ordered each file is written once
		at := filepath.Join(root, path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600))
	}
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(root))
	}
	return root, nil
}

// environment is that of a process.
func (b *Binary) environment(root string) []string {
	return append([]string{"HOSTNAME=" + hostname(b.Name, 0), "HOME=" + home, "TMPDIR=/tmp", "PATH=/usr/local/bin:/usr/bin:/bin",
		"KUBECONFIG=/kubeconfig", "KUBERNETES_SERVICE_HOST=apiserver", "KUBERNETES_SERVICE_PORT=443",
		"THREELAWS_ROOT=" + root, "THREELAWS_DIR=" + b.Repository}, b.Env...)
}

// hostname is the name of the pod that a replica of a program runs in.
func hostname(name string, replica int) string {
	if name == "" {
		name = "operator"
	}
	return fmt.Sprint(name, "-", replica)
}

// project writes the files of the Secrets and ConfigMaps that have changed since it was last called.
func (l *life) project() {
	for i := range l.binary.Projections {
		p := &l.binary.Projections[i]
		server := l.room.place.Server()
		obj := server.Lookup(server.KindNamed(strings.ToLower(p.Kind)), p.Namespace, p.Name)
		version := ""
		if obj != nil {
			version = obj.(metav1.Object).GetResourceVersion()
		}
		if version == l.projected[i] {
			continue
		}
		l.projected[i] = version
		if err := p.write(filepath.Join(l.process.root, p.Path), obj); err != nil {
			panic("agent: a volume of " + l.name + " is not projected: " + err.Error())
		}
	}
}

// write replaces what a volume shows.
func (p *Projection) write(dir string, obj runtime.Object) error {
	data := map[string][]byte{}
	switch o := obj.(type) {
	case *corev1.Secret:
		data = o.Data
	case *corev1.ConfigMap:
		for k, v := range o.Data { //detcheck:ordered a key is copied to itself
			data[k] = []byte(v)
		}
		for k, v := range o.BinaryData { //detcheck:ordered a key is copied to itself
			data[k] = v
		}
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	keys := p.Keys
	if keys == nil {
		keys = map[string]string{}
		for k := range data { //detcheck:ordered a key is copied to itself
			keys[k] = k
		}
	}
	var err error
	for key, path := range keys { //detcheck:ordered each file is written once
		at := filepath.Join(dir, path)
		if text, is := data[key]; is {
			err = errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, text, 0o600))
		} else if gone := os.Remove(at); gone != nil && !errors.Is(gone, os.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

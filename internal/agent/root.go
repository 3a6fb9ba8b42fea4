package agent

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Projection is a Secret or ConfigMap that the program reads as files from a volume.
type Projection struct {
	Kind, Namespace, Name string            // Kind is "Secret" or "ConfigMap"
	Path                  string            // where the volume is mounted
	Keys                  map[string]string // key -> path below Path; nil projects every key under its own name
}

// kubeconfig is a kubeconfig file in which the world is the only cluster.
const kubeconfig = `apiVersion: v1
kind: Config
clusters: [{name: world, cluster: {server: "http://apiserver"}}]
users: [{name: operator, user: {token: %s}}]
contexts: [{name: world, context: {cluster: world, user: operator, namespace: %s}}]
current-context: world
`

// token is the token of the operator's service account.
const token = "threelaws"

// serviceAccount is the directory in which a kubelet mounts the files of the in-cluster configuration.
const serviceAccount = "/var/run/secrets/kubernetes.io/serviceaccount/"

// home is the home directory of a program. The directory is empty when a life begins.
const home = "/home/operator"

// holds returns the initial content of a process's directory. A file that the program opens is searched in this
// directory first, then on the machine. All writes of the program go to this directory.
func (b *Binary) holds() (dirs []string, files map[string]string) {
	files = map[string]string{
		"/kubeconfig":                fmt.Sprintf(kubeconfig, token, b.namespace()),
		serviceAccount + "token":     token,
		serviceAccount + "namespace": b.namespace(),
		serviceAccount + "ca.crt":    Authority,
	}
	dirs = []string{home, "/tmp", filepath.Join("/", b.WorkingDir)}
	for _, dir := range b.Folders {
		dirs = append(dirs, filepath.Join("/", dir))
	}
	return dirs, files
}

func (b *Binary) namespace() string {
	if b.Namespace == "" {
		return "default"
	}
	return b.Namespace
}

func (b *Binary) root() (string, error) {
	root, err := os.MkdirTemp("", "threelaws-root")
	if err != nil {
		return "", err
	}
	if err := b.fill(root); err != nil {
		return "", errors.Join(err, os.RemoveAll(root))
	}
	return root, nil
}

func (b *Binary) fill(root string) (err error) {
	dirs, files := b.holds()
	for _, dir := range dirs {
		err = errors.Join(err, os.MkdirAll(filepath.Join(root, dir), 0o700))
	}
	for path, text := range files { //detcheck:ordered each file is written once
		at := filepath.Join(root, path)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(at), 0o700), os.WriteFile(at, []byte(text), 0o600))
	}
	return err
}

// stamp returns the modification times of the initial directories and files. They show what a program changed.
func (b *Binary) stamp(root string) (stamp []time.Time) {
	dirs, files := b.holds()
	seen := map[string]bool{}
	for _, path := range append(dirs, slices.Sorted(maps.Keys(files))...) {
		for ; !seen[path]; path = filepath.Dir(path) { // ends at "/", whose parent is "/"
			seen[path] = true
			if at, err := os.Lstat(root + path); err == nil {
				stamp = append(stamp, at.ModTime())
			}
		}
	}
	return stamp
}

// tidy restores the initial state of a process's directory.
func (b *Binary) tidy(root string) error {
	dirs, files := b.holds()
	for path := range files { //detcheck:ordered the list is searched only
		dirs = append(dirs, path)
	}
	err := filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
		path := strings.TrimPrefix(at, root)
		if err != nil || slices.ContainsFunc(dirs, func(dir string) bool {
			return path == dir || strings.HasPrefix(dir, path+"/") || path == ""
		}) {
			return err
		}
		if err := os.RemoveAll(at); err != nil || !d.IsDir() {
			return err
		}
		return fs.SkipDir
	})
	return errors.Join(err, b.fill(root))
}

func (b *Binary) environment(root string) []string {
	return append([]string{"HOSTNAME=" + b.replica(0).Pod, "HOME=" + home, "TMPDIR=/tmp", "PATH=/usr/local/bin:/usr/bin:/bin",
		"KUBECONFIG=/kubeconfig", "KUBERNETES_SERVICE_HOST=apiserver", "KUBERNETES_SERVICE_PORT=443",
		"THREELAWS_ROOT=" + root, "THREELAWS_DIR=" + b.Repository}, b.Env...)
}

// Replica contains the values that differ between the replicas of a program.
type Replica struct {
	Pod  string   // the pod's name, which is also the host name
	Env  []string // "NAME=value"
	Args []string // replaces the binary's arguments; nil keeps them
}

func (b *Binary) replica(number int) Replica {
	if b.Replicas != nil {
		return b.Replicas(number)
	}
	name := b.Name
	if name == "" {
		name = "operator"
	}
	return Replica{Pod: name + "-" + strconv.Itoa(number)}
}

// project writes the files of the Secrets and ConfigMaps that have changed since the last call.
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

// write writes the files of a volume. It removes the files of keys that obj does not have. A nil obj has no keys.
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

// authorityKey is the private key of the CA in every world. It may be public, because no request leaves the process.
var authorityKey = ed25519.NewKeyFromSeed([]byte("threelaws: a world's own CA key."))

// validFrom and validTo are the limits of every certificate. They cover each world's time, which begins in 2017.
var (
	validFrom = time.Date(2016, time.January, 1, 0, 0, 0, 0, time.UTC)
	validTo   = time.Date(2116, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// Authority is the PEM certificate of the CA. The CA signs the certificates of the API server and of webhooks.
var Authority = func() string {
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "threelaws"}, NotBefore: validFrom,
		NotAfter: validTo, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	return sign(c, c, authorityKey)
}()

// Certificate returns a certificate for one or more host names, signed by [Authority], and its key, both in PEM. The
// same names always give the same certificate and key.
func Certificate(names ...string) (certificate, key string) {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, names[0])
	private := ed25519.NewKeyFromSeed(seed)
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names[0]}, NotBefore: validFrom,
		NotAfter: validTo, DNSNames: names, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	block, _ := pem.Decode([]byte(Authority))
	authority, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		panic("agent: the CA's certificate does not parse: " + err.Error())
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		panic("agent: " + err.Error())
	}
	return sign(c, authority, private), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// sign signs a certificate. Signing with Ed25519 is deterministic.
func sign(c, authority *x509.Certificate, key ed25519.PrivateKey) string {
	der, err := x509.CreateCertificate(rand.Reader, c, authority, key.Public(), authorityKey)
	if err != nil {
		panic("agent: a certificate cannot be made: " + err.Error())
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

package cli

import (
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/cert"
)

// overTLS is a listener whose connections are encrypted with a certificate made for it, which is returned in PEM.
func overTLS(plain net.Listener) (net.Listener, []byte, error) {
	ip := plain.Addr().(*net.TCPAddr).IP
	bundle, key, err := cert.GenerateSelfSignedCertKey(ip.String(), []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		[]string{"localhost"})
	if err != nil {
		return nil, nil, err
	}
	pair, err := tls.X509KeyPair(bundle, key)
	if err != nil {
		return nil, nil, err
	}
	return tls.NewListener(plain, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"}}), bundle, nil
}

// kubeconfig is a configuration of kubectl with this server as its only one. Clients are to trust a certificate,
// or, where there is none, to know that the connection is not encrypted: some refuse it otherwise.
func kubeconfig(url string, trusted []byte) string {
	trust := "insecure-skip-tls-verify: true"
	if trusted != nil {
		trust = "certificate-authority-data: " + base64.StdEncoding.EncodeToString(trusted)
	}
	return fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: threelaws
  cluster:
    server: %s
    %s
contexts:
- name: threelaws
  context:
    cluster: threelaws
    user: threelaws
current-context: threelaws
users:
- name: threelaws
  user: {}
`, url, trust)
}

// writeWhole replaces a file, or leaves it as it is.
func writeWhole(path string, text []byte) error { return replaceFile(path, text, 0o644) }

// replaceFile is writeWhole with the mode that a new file gets. A link stays one,
// and what is no file, as /dev/stdout, is written to and not replaced.
func replaceFile(path string, text []byte, mode os.FileMode) error {
	if old, err := os.Stat(path); err == nil {
		if mode = old.Mode(); !mode.IsRegular() {
			return os.WriteFile(path, text, mode.Perm())
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".threelaws-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if e := f.Chmod(mode.Perm()); err == nil {
		err = e
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// nameLetters are what the real server makes names of: no vowels, no words.
const nameLetters = "bcdfghjklmnpqrstvwxz2456789"

// randomName makes a name for a prefix, as the real server does.
func randomName(prefix string, _ int) string {
	suffix := make([]byte, 5)
	for i := range suffix {
		suffix[i] = nameLetters[rand.IntN(len(nameLetters))]
	}
	return prefix + string(suffix)
}

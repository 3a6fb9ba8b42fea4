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

// overTLS adds TLS with a new self-signed certificate, which it returns in PEM.
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

// kubeconfig is a kubeconfig for this server. Without a certificate it has insecure-skip-tls-verify, since some clients
// refuse plain HTTP without it.
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

func writeWhole(path string, text []byte) error { return replaceFile(path, text, 0o644) }

// replaceFile replaces a file atomically. mode is for a new file. A symbolic link stays, and a device such as
// /dev/stdout is written to.
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

// nameLetters are the letters of generated names on a real server: no vowels, so no words.
const nameLetters = "bcdfghjklmnpqrstvwxz2456789"

func randomName(prefix string, _ int) string {
	suffix := make([]byte, 5)
	for i := range suffix {
		suffix[i] = nameLetters[rand.IntN(len(nameLetters))]
	}
	return prefix + string(suffix)
}

package watch

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"sync"
	"time"
)

// client makes a client of a configuration.
func (c *Config) client() (*http.Client, error) {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second,
		TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: listTime,
		// A connection that is dead without a word is noticed by its silence.
		HTTP2:           &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
		TLSClientConfig: &tls.Config{InsecureSkipVerify: c.tls.Insecure, ServerName: c.tls.ServerName}}
	if c.tls.Proxy != "" {
		proxy, err := url.Parse(c.tls.Proxy)
		if err != nil {
			return nil, err
		}
		t.Proxy = http.ProxyURL(proxy)
	}
	ca, err := dataOr(c.tls.CAData, c.tls.CA)
	if err != nil {
		return nil, err
	}
	if ca != nil {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(ca) {
			return nil, errors.New("certificate-authority: no certificate is in it")
		}
	}
	if _, err := c.certificate(); err != nil {
		return nil, err
	}
	t.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		return c.certificate()
	}
	return &http.Client{Transport: t}, nil
}

// certificate is who asks, as a certificate: an empty one for none. It is read anew for
// each connection, as files are renewed.
func (c *Config) certificate() (*tls.Certificate, error) {
	cert, err := dataOr(c.user.CertData, c.user.Cert)
	if err != nil {
		return nil, err
	}
	key, err := dataOr(c.user.KeyData, c.user.Key)
	if err != nil {
		return nil, err
	}
	if c.user.Exec != nil {
		got, err := c.user.Exec.credential(c)
		if err != nil {
			return nil, err
		}
		cert, key = []byte(got.ClientCertificateData), []byte(got.ClientKeyData)
	}
	if len(cert) == 0 {
		return &tls.Certificate{}, nil
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("client-certificate: %w", err)
	}
	return &pair, nil
}

// dataOr is what stands in a configuration, or in the file that it names.
func dataOr(data []byte, file string) ([]byte, error) {
	if len(data) > 0 || file == "" {
		return data, nil
	}
	return os.ReadFile(file)
}

// plugin is a program that says who asks (client.authentication.k8s.io).
type plugin struct {
	APIVersion string   `json:"apiVersion"`
	Command    string   `json:"command"`
	Args       []string `json:"args"`
	Env        []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
	InstallHint string `json:"installHint"`
	Provide     bool   `json:"provideClusterInfo"`

	mu  sync.Mutex
	got *credential
}

// credential is what a plugin says.
type credential struct {
	ExpirationTimestamp   *time.Time `json:"expirationTimestamp"`
	Token                 string     `json:"token"`
	ClientCertificateData string     `json:"clientCertificateData"`
	ClientKeyData         string     `json:"clientKeyData"`
}

// stale is how long before its end a credential is asked for again.
const stale = 30 * time.Second

// credential asks the plugin, unless what it said last still holds.
func (p *plugin) credential(c *Config) (*credential, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.got != nil && (p.got.ExpirationTimestamp == nil || time.Until(*p.got.ExpirationTimestamp) > stale) {
		return p.got, nil
	}
	spec := map[string]any{"interactive": false}
	if p.Provide {
		ca, err := dataOr(c.tls.CAData, c.tls.CA)
		if err != nil {
			return nil, err
		}
		spec["cluster"] = map[string]any{"server": c.tls.Server, "certificate-authority-data": ca,
			"insecure-skip-tls-verify": c.tls.Insecure, "tls-server-name": c.tls.ServerName, "proxy-url": c.tls.Proxy}
	}
	info, err := json.Marshal(map[string]any{"apiVersion": p.APIVersion, "kind": "ExecCredential", "spec": spec})
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(p.Command, p.Args...)
	cmd.Env = append(os.Environ(), "KUBERNETES_EXEC_INFO="+string(info))
	for _, e := range p.Env {
		cmd.Env = append(cmd.Env, e.Name+"="+e.Value)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the plugin %s: %w %s", p.Command, err, p.InstallHint)
	}
	var answer struct{ Status *credential }
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil || answer.Status == nil {
		return nil, fmt.Errorf("the plugin %s gave no ExecCredential with a status", p.Command)
	}
	p.got = answer.Status
	return p.got, nil
}

// forget makes a plugin be asked again: the server did not believe what it said.
func (c *Config) forget() {
	if p := c.user.Exec; p != nil {
		p.mu.Lock()
		p.got = nil
		p.mu.Unlock()
	}
}

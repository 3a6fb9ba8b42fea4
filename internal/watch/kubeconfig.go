package watch

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// Config is where a cluster is, and who asks it. It reads kubeconfigs as client-go's
// clientcmd does, which would make the program larger by a thirtieth.
type Config struct {
	Server *url.URL
	tls    transport
	user   user
	dir    string // that paths of the user begin at
}

// kubeconfig is a file, of the version v1.
type kubeconfig struct {
	CurrentContext string `json:"current-context"`
	Clusters       []struct {
		Name    string    `json:"name"`
		Cluster transport `json:"cluster"`
	} `json:"clusters"`
	Users []struct {
		Name string `json:"name"`
		User user   `json:"user"`
	} `json:"users"`
	Contexts []struct {
		Name    string `json:"name"`
		Context struct {
			Cluster string `json:"cluster"`
			User    string `json:"user"`
		} `json:"context"`
	} `json:"contexts"`
}

// transport is how a server is reached.
type transport struct {
	Server     string `json:"server"`
	CA         string `json:"certificate-authority"`
	CAData     []byte `json:"certificate-authority-data"`
	Insecure   bool   `json:"insecure-skip-tls-verify"`
	ServerName string `json:"tls-server-name"`
	Proxy      string `json:"proxy-url"`
}

// user is who asks.
type user struct {
	Cert         string   `json:"client-certificate"`
	CertData     []byte   `json:"client-certificate-data"`
	Key          string   `json:"client-key"`
	KeyData      []byte   `json:"client-key-data"`
	Token        string   `json:"token"`
	TokenFile    string   `json:"tokenFile"`
	Username     string   `json:"username"`
	Password     string   `json:"password"`
	As           string   `json:"as"`
	AsGroups     []string `json:"as-groups"`
	Exec         *plugin  `json:"exec"`
	AuthProvider *struct {
		Name string `json:"name"`
	} `json:"auth-provider"`
}

// Load reads the configuration that kubectl would take: of a file, of those that the
// variable KUBECONFIG names, of .kube/config in the home directory, or of the pod that the
// program runs in. A context of "" is the file's own.
func Load(file, context string) (*Config, error) {
	if file != "" {
		return loadFrom([]string{file}, context, true)
	}
	if list := os.Getenv("KUBECONFIG"); list != "" {
		return loadFrom(filepath.SplitList(list), context, false)
	}
	if home, err := os.UserHomeDir(); err == nil {
		c, err := loadFrom([]string{filepath.Join(home, ".kube", "config")}, context, true)
		if !errors.Is(err, os.ErrNotExist) {
			return c, err
		}
	}
	return inPod()
}

// loadFrom reads files. Of two entries of one name the first counts. Files of a list may
// be missing.
func loadFrom(files []string, context string, must bool) (*Config, error) {
	c := &Config{}
	found, cluster, as := false, "", ""
	var all []kubeconfig
	for _, f := range files {
		text, err := os.ReadFile(f)
		if errors.Is(err, os.ErrNotExist) && !must {
			all = append(all, kubeconfig{})
			continue
		}
		var k kubeconfig
		if err == nil {
			if err = yaml.Unmarshal(text, &k); err != nil {
				err = fmt.Errorf("%s: %w", f, err)
			}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, k)
		if context == "" {
			context = k.CurrentContext
		}
	}
	for _, k := range all {
		for _, x := range k.Contexts {
			if x.Name == context && !found {
				found, cluster, as = true, x.Context.Cluster, x.Context.User
			}
		}
	}
	if !found {
		return nil, fmt.Errorf("%s: there is no context %q", strings.Join(files, ", "), context)
	}
	for i := len(all) - 1; i >= 0; i-- {
		for _, x := range all[i].Clusters {
			if x.Name == cluster {
				c.tls, c.dir = x.Cluster, filepath.Dir(files[i])
				c.tls.CA = from(c.dir, c.tls.CA)
			}
		}
		for _, x := range all[i].Users {
			if x.Name == as {
				c.user = x.User
				for _, path := range []*string{&c.user.Cert, &c.user.Key, &c.user.TokenFile} {
					*path = from(filepath.Dir(files[i]), *path)
				}
			}
		}
	}
	return c, c.check(cluster)
}

// from is a path of a file, which may be one from the file's own directory.
func from(dir, path string) string {
	if path == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// check completes a configuration.
func (c *Config) check(cluster string) (err error) {
	if c.tls.Server == "" {
		return fmt.Errorf("the cluster %q has no server", cluster)
	}
	if c.user.AuthProvider != nil {
		return fmt.Errorf("the auth-provider %s is not supported; exec plugins, tokens and certificates are",
			c.user.AuthProvider.Name)
	}
	if !strings.Contains(c.tls.Server, "://") {
		c.tls.Server = "https://" + c.tls.Server
	}
	c.Server, err = url.Parse(c.tls.Server)
	return err
}

// inPod is the configuration of a pod: its service account.
func inPod() (*Config, error) {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	if host == "" || port == "" {
		return nil, errors.New("none is given, there is none in the home directory, and this is no pod")
	}
	const dir = "/var/run/secrets/kubernetes.io/serviceaccount/"
	c := &Config{tls: transport{Server: "https://" + net.JoinHostPort(host, port), CA: dir + "ca.crt"},
		user: user{TokenFile: dir + "token"}}
	return c, c.check("of the pod")
}

// sign says in a request who asks.
func (c *Config) sign(req *http.Request) error {
	token := c.user.Token
	switch {
	case c.user.Exec != nil:
		got, err := c.user.Exec.credential(c)
		if err != nil {
			return err
		}
		token = got.Token
	case c.user.TokenFile != "":
		text, err := os.ReadFile(c.user.TokenFile)
		if err != nil {
			return err
		}
		token = strings.TrimSpace(string(text))
	}
	switch {
	case token != "":
		req.Header.Set("Authorization", "Bearer "+token)
	case c.user.Username != "":
		both := base64.StdEncoding.EncodeToString([]byte(c.user.Username + ":" + c.user.Password))
		req.Header.Set("Authorization", "Basic "+both)
	}
	if c.user.As != "" {
		req.Header.Set("Impersonate-User", c.user.As)
	}
	for _, g := range c.user.AsGroups {
		req.Header.Add("Impersonate-Group", g)
	}
	return nil
}

package controllermanager_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"

	"github.com/threelaws/threelaws/fakeapi"
	"github.com/threelaws/threelaws/fakeapi/httpapi"
)

// cluster is a server on which kube-controller-manager acts, and a kubelet that
// does what it is to do at once.
type cluster struct {
	*kubernetes.Clientset
	dynamic dynamic.Interface
	config  *rest.Config
	changed chan struct{} // has something in it when something has been written
}

// it is the one cluster of all tests: the command cannot be ended.
var it *cluster

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "controllermanager")
	if err != nil {
		panic(err)
	}
	it = start(dir)
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func start(dir string) *cluster {
	server := fakeapi.New(fakeapi.Options{ManagedFields: true})
	c := &cluster{changed: make(chan struct{}, 1)}
	h := httpapi.New(server, func() time.Time { return time.Now().UTC() })
	h.Execute = func(req *fakeapi.Request) fakeapi.Response {
		before := server.Version()
		resp, _ := server.Do(time.Now().UTC(), req)
		if server.Version() != before {
			select {
			case c.changed <- struct{}{}:
			default:
			}
		}
		return resp
	}
	url := httptest.NewServer(h).URL
	c.config = &rest.Config{Host: url, QPS: -1}
	c.Clientset = kubernetes.NewForConfigOrDie(c.config)
	c.dynamic = dynamic.NewForConfigOrDie(c.config)
	define(c)
	go c.kubelet()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := os.WriteFile(kubeconfig, fmt.Appendf(nil, kubeconfigText, url), 0o600); err != nil {
		panic(err)
	}
	manager := app.NewControllerManagerCommand()
	// Those two sign and clean for kubeadm, and need what it sets up.
	manager.SetArgs([]string{"--kubeconfig=" + kubeconfig, "--leader-elect=false", "--secure-port=0",
		"--controllers=*,-bootstrap-signer-controller,-token-cleaner-controller",
		"--kube-api-qps=1000", "--kube-api-burst=1000"})
	go func() {
		panic(fmt.Sprint("kube-controller-manager has ended: ", manager.ExecuteContext(context.Background())))
	}()
	return c
}

const kubeconfigText = `apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: %q}}]
contexts: [{name: c, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
current-context: c
`

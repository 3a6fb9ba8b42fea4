package main

import "strings"

// A suite is an upstream package with tests.
type suite struct {
	name    string
	module  string   // the upstream module
	from    string   // the directory here whose go.mod requires the module
	pkg     string   // the directory of the package in the module
	flags   string   // flags for threelaws serve
	folders []string // the folders to copy; empty copies the whole module, with its go.mod
	hooks   []string // folders into which external.go.txt is copied
	edits   []string // pairs of a text in the Go files and its replacement
	ginkgo  bool     // the tests are Ginkgo's specs
}

const (
	copied = "upstreamtests.example/" // the path of a module with copied folders
	// serve is inserted at the start of upstream's functions that start a server.
	serve      = "\n\tif config, down, err := externalServer(); err != nil || config != nil {\n\t\treturn "
	fixtures   = "(func(), servertesting.TestServer, error) {"
	server     = "(result TestServer, err error) {"
	framework  = "(client.Interface, *rest.Config, TearDownFunc) {"
	etcd       = "func EtcdMain(tests func() int) {"
	kubernetes = "client apimachinery apiserver configmap cronjob deployment disruption dryrun endpoints " +
		"endpointslice events evictions garbagecollector namespace podgc pods quota replicaset " +
		"replicationcontroller scale secrets service statefulset storageclasses ttlcontroller"
	runtime = "client cache manager builder client/apiutil cluster controller controller/controllerutil envtest " +
		"handler internal/controller internal/recorder manager/internal/integration metrics/filters reconcile source webhook"
)

func list() []*suite {
	out := []*suite{{
		name: "apiextensions", module: "k8s.io/apiextensions-apiserver", from: "upstream", pkg: "test/integration",
		folders: []string{"test/integration"}, hooks: []string{"test/integration/fixtures"},
		flags: "--disable-admission-plugins NamespaceLifecycle", // as upstream's fixtures do
		edits: []string{"k8s.io/apiextensions-apiserver/test/", copied + "test/",
			fixtures, fixtures + serve + "down, servertesting.TestServer{ClientConfig: config}, err\n\t}"},
	}}
	hooks := []string{"cmd/kube-apiserver/app/testing", "test/integration/framework"}
	for _, p := range strings.Fields(kubernetes) {
		out = append(out, &suite{
			name: "kubernetes/" + p, module: "k8s.io/kubernetes", from: "upstream", pkg: "test/integration/" + p,
			folders: append([]string{"test/integration/" + p, "test/integration/util"}, hooks...), hooks: hooks,
			edits: []string{`"k8s.io/kubernetes/cmd/kube-apiserver/app/t`, `"` + copied + "cmd/kube-apiserver/app/t",
				"k8s.io/kubernetes/test/integration/framework", copied + "test/integration/framework",
				"k8s.io/kubernetes/test/integration/util", copied + "test/integration/util",
				etcd, etcd + "\n\tos.Exit(tests())",
				server, server + serve + "TestServer{ClientConfig: config, TearDownFn: down}, err\n\t}",
				framework, framework + serve + "client.NewForConfigOrDie(config), config, down\n\t}"},
		})
	}
	for _, p := range strings.Fields(runtime) {
		out = append(out, &suite{
			name: "controller-runtime/" + p, module: "sigs.k8s.io/controller-runtime", from: "controllerruntime",
			pkg: "pkg/" + p, flags: "--tls", hooks: []string{"pkg/envtest"}, ginkgo: true,
			edits: []string{"te.Config, err = config.GetConfig()", "_ = config.GetConfig; te.Config, _, err = externalServer()"},
		})
	}
	return out
}

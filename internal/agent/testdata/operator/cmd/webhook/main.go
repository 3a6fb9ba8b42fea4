// Command webhook serves an admission webhook, and reloads its certificates when they change.
package main

import (
	"context"
	"flag"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func main() {
	certs := flag.String("certs", "", "the folder of tls.crt and tls.key")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	hooks := webhook.NewServer(webhook.Options{Port: 9443, CertDir: *certs})
	mgr, err := ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{Scheme: scheme,
		Metrics: server.Options{BindAddress: "0"}, WebhookServer: hooks})
	utilruntime.Must(err)
	mgr.GetWebhookServer().Register("/validate", &webhook.Admission{Handler: deny{}})
	if err := mgr.Start(ctrl.SetupSignalHandler()); err != nil {
		ctrl.Log.Error(err, "the manager ended")
		os.Exit(1)
	}
}

// deny denies objects with the name bad.
type deny struct{}

func (deny) Handle(_ context.Context, r webhook.AdmissionRequest) webhook.AdmissionResponse {
	if r.Name == "bad" {
		return webhook.Denied("the name is bad")
	}
	return webhook.Allowed("")
}

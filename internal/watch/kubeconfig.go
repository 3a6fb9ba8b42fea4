package watch

import (
	"errors"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Load reads the configuration that kubectl would use: of a file, of the files that the
// variable KUBECONFIG names, of .kube/config in the home directory, or of the pod that the
// program runs in. A context of "" is the file's own.
func Load(file, context string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	overrides := &clientcmd.ConfigOverrides{CurrentContext: context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		err = errors.New("there is no kubeconfig, and this is no pod; set KUBECONFIG or --kubeconfig")
	}
	return config, err
}

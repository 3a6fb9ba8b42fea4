package watch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Load reads the configuration that kubectl would use. It comes from a file, the files in the variable KUBECONFIG,
// .kube/config in the home directory, or the pod that runs the program. A context of "" is the file's own. Errors name
// the files.
func Load(file, context string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	loaded, err := rules.Load()
	from := strings.Join(rules.GetLoadingPrecedence(), ", ")
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", from, err)
	case file == "" && api.IsConfigEmpty(loaded): // kubectl uses the pod then
		if config, err := rest.InClusterConfig(); err == nil {
			return config, nil
		}
		return nil, fmt.Errorf("%s: there is no kubeconfig, and this is no pod; set KUBECONFIG or --kubeconfig", from)
	}
	context = cmp.Or(context, loaded.CurrentContext)
	switch c, known := loaded.Contexts[context], strings.Join(slices.Sorted(maps.Keys(loaded.Contexts)), ", "); {
	case known == "":
		return nil, fmt.Errorf("%s: there is no context in it", from)
	case context == "":
		return nil, fmt.Errorf("%s: no context is current; --context names one of: %s", from, known)
	case c == nil:
		return nil, fmt.Errorf("%s: there is no context %q; there are: %s", from, context, known)
	case loaded.Clusters[c.Cluster] == nil:
		return nil, fmt.Errorf("%s: context %q names the cluster %q, which is not there", from, context, c.Cluster)
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*loaded, context, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return config, nil
}

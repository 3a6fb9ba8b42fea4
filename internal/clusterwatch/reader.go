package clusterwatch

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/klog/v2"
)

// Reader reads a cluster by list and watch requests.
type Reader struct {
	Namespace string   // the namespace to read; "" means all namespaces and cluster-scoped objects
	Kinds     []string // the resources to read, as "deployments.apps"; nil means all that can be watched
	// Note is called with the reason if a kind is not watched. It is also called if the server does not answer. Calls
	// may be concurrent.
	Note func(text string)

	discovery discovery.DiscoveryInterface
	client    dynamic.Interface
	slots     chan struct{}             // limits the number of concurrent lists
	first     time.Duration             // the delay before the first retry; it doubles with each retry
	away      atomic.Pointer[url.Error] // the network error of the last request; nil if the server responded
}

const (
	mostLists = 8
	firstWait = 200 * time.Millisecond
	longWait  = 30 * time.Second
)

// NewReader returns a reader of the configured server.
func NewReader(config *rest.Config) (*Reader, error) {
	config = rest.CopyConfig(config)
	config.UserAgent = "threelaws-watch"
	config.QPS = -1 // slots already limit the requests
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	kinds, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	return &Reader{discovery: kinds, client: client, slots: make(chan struct{}, mostLists), first: firstWait,
		Note: func(string) {}}, nil
}

// again is the interval after which Run lists the kinds of the server again, because CRDs may have been added.
const again = 5 * time.Minute

// Run reads the cluster into c until ctx is done or done returns true. It returns an error if no kind can be read, or
// if the server does not respond.
func (r *Reader) Run(ctx context.Context, c *Cluster, done func() bool) error {
	ctx, stop := context.WithCancel(klog.NewContext(ctx, klog.Logger{})) // client-go must not log: Note gets the errors
	defer stop()
	type found struct {
		kinds []*ServedKind
		err   error
	}
	more := make(chan found, 1)
	discover := func(first bool) {
		kinds, err := r.discover(first)
		more <- found{kinds, err}
	}
	go discover(true)
	var begin found
	select {
	case <-ctx.Done():
		return nil
	case begin = <-more:
	}
	if begin.err != nil {
		return begin.err
	}
	news := make(chan heard, 256)
	followed := map[string]bool{}
	follow := func(kinds []*ServedKind) {
		for _, k := range kinds {
			if !followed[k.String()] {
				followed[k.String()] = true
				c.Look(k)
				go r.follow(ctx, k, news, c.Record != nil)
			}
		}
	}
	follow(begin.kinds)
	tick := time.NewTicker(max(min(time.Second, c.Patience/4), 20*time.Millisecond))
	defer tick.Stop()
	rediscover := time.NewTicker(again)
	defer rediscover.Stop()
	left := 0
	for !done() {
		select {
		case <-ctx.Done():
			return nil
		case <-rediscover.C:
			go discover(false)
		case f := <-more:
			follow(f.kinds) // nil if discovery failed
		case now := <-tick.C:
			c.Tick(now)
		case h := <-news:
			h.tell(c)
			if h.left {
				if left++; left == len(followed) && c.Len() == 0 {
					return fmt.Errorf("none of %d kinds can be listed: %s", left, h.why)
				}
			}
		}
	}
	if away := r.away.Load(); away != nil {
		return fmt.Errorf("the server does not answer: %w", away.Err)
	}
	return nil
}

// passedOver lists resources that are read only if Kinds contains them. They have no owners, or several programs write
// them by design, or they are secret.
var passedOver = []string{"events", "events.events.k8s.io", "leases.coordination.k8s.io", "secrets"}

// discover returns the requested kinds that can be listed and watched. The first call also calls Note for each
// group that cannot be discovered, and fails if a kind in Kinds does not exist.
func (r *Reader) discover(first bool) ([]*ServedKind, error) {
	lists, err := discovery.ServerPreferredResources(r.discovery)
	failed, partly := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !partly {
		return nil, err
	}
	var kinds []*ServedKind
	var there []string
	asked := map[string]bool{}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for i := range list.APIResources {
			x := &list.APIResources[i]
			k := &ServedKind{gv.Group, gv.Version, x.Name, x.Kind, x.Namespaced}
			if strings.Contains(x.Name, "/") || !slices.Contains(x.Verbs, "list") || !slices.Contains(x.Verbs, "watch") ||
				r.Namespace != "" && !x.Namespaced {
				continue
			}
			there = append(there, k.String())
			if r.wanted(k, x, asked) {
				kinds = append(kinds, k)
			}
		}
	}
	if !first {
		return kinds, nil
	}
	for gv, err := range failed {
		r.Note(fmt.Sprintf("not watched: %s: the server does not list its resources: %v", gv, err))
	}
	for _, name := range r.Kinds {
		if !asked[name] {
			return nil, &Unknown{Kind: name, There: there}
		}
	}
	if len(kinds) == 0 {
		return nil, fmt.Errorf("there is no kind that can be listed and watched")
	}
	return kinds, nil
}

// wanted reports whether to watch a kind. For each requested name that matches the kind, it sets the name's value in
// asked.
func (r *Reader) wanted(k *ServedKind, x *metav1.APIResource, asked map[string]bool) bool {
	called := append([]string{x.Name, x.SingularName, strings.ToLower(x.Kind), k.String()}, x.ShortNames...)
	found := len(r.Kinds) == 0 && !slices.Contains(passedOver, k.String())
	for _, name := range r.Kinds {
		if slices.Contains(called, strings.ToLower(name)) {
			asked[name], found = true, true
		}
	}
	return found
}

// Unknown is the error for a requested kind that the server does not have.
type Unknown struct {
	Kind  string
	There []string // the kinds that exist
}

func (u *Unknown) Error() string {
	return "there is no kind " + u.Kind + " that can be listed and watched"
}

// Load reads the client configuration that kubectl would use: from the given file, from the files in KUBECONFIG, from
// .kube/config in the home directory, or from the pod in which the program runs. If context is "", the current context
// of the file is used. Errors contain the names of the files.
func Load(file, context string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = file
	loaded, err := rules.Load()
	from := strings.Join(rules.GetLoadingPrecedence(), ", ")
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", from, err)
	case file == "" && api.IsConfigEmpty(loaded): // like kubectl, fall back to the pod's service account
		if config, err := rest.InClusterConfig(); err == nil {
			return config, nil
		}
		return nil, fmt.Errorf("%s: there is no kubeconfig, and this is not a pod; set KUBECONFIG or --kubeconfig",
			from)
	}
	context = cmp.Or(context, loaded.CurrentContext)
	switch c, known := loaded.Contexts[context], strings.Join(slices.Sorted(maps.Keys(loaded.Contexts)), ", "); {
	case known == "":
		return nil, fmt.Errorf("%s: it has no contexts", from)
	case context == "":
		return nil, fmt.Errorf("%s: no current context; set --context to one of: %s", from, known)
	case c == nil:
		return nil, fmt.Errorf("%s: there is no context %q; there are: %s", from, context, known)
	case loaded.Clusters[c.Cluster] == nil:
		return nil, fmt.Errorf("%s: context %q names the cluster %q, which does not exist", from, context, c.Cluster)
	}
	config, err := clientcmd.NewNonInteractiveClientConfig(*loaded, context, &clientcmd.ConfigOverrides{}, rules).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	return config, nil
}

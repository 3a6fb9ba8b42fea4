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

// Reader reads a cluster with lists and watches only.
type Reader struct {
	Namespace string   // the one that is looked at; "" for all, and what is in none
	Kinds     []string // as resources, "deployments.apps"; none for all that can be watched
	// Note gets what is not watched, and why, once each. Several goroutines call it.
	Note func(text string)

	discovery discovery.DiscoveryInterface
	client    dynamic.Interface
	slots     chan struct{}             // limits concurrent lists
	first     time.Duration             // the first delay of a retry; it doubles each time
	away      atomic.Pointer[url.Error] // error of the last request; nil if the server answered it
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
	config.QPS = -1 // the slots limit the requests at once
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

// again is how often discovery is repeated: CRDs may be added or removed.
const again = 5 * time.Minute

// Run feeds a cluster until the context ends or done returns true. It returns an error if nothing can be read at all,
// or if the server does not answer in the end.
func (r *Reader) Run(ctx context.Context, c *Cluster, done func() bool) error {
	ctx, stop := context.WithCancel(klog.NewContext(ctx, klog.Logger{})) // client-go logs nothing: Note reports it
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
			follow(f.kinds) // none where it failed
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

// passedOver are resources that are watched only if named: nobody owns them, they are contested by design, or few
// should be allowed to read them.
var passedOver = []string{"events", "events.events.k8s.io", "leases.coordination.k8s.io", "secrets"}

// discover lists the kinds that can be listed and watched, and were requested. It notes and skips groups that the
// server does not answer for.
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

// wanted reports whether to watch a kind, and marks the requested names that match it.
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

// Unknown is the error for a requested kind that does not exist.
type Unknown struct {
	Kind  string
	There []string // the existing ones
}

func (u *Unknown) Error() string {
	return "there is no kind " + u.Kind + " that can be listed and watched"
}

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

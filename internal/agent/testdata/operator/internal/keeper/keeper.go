// Package keeper creates a Secret for each ConfigMap.
package keeper

import (
	"bytes"
	"context"
	"fmt"
	"math/rand"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/robfig/cron/v3"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// Keeper is a controller built on client-go.
type Keeper struct {
	client   kubernetes.Interface
	settings string // a file
	identity string
	caches   []cache.SharedIndexInformer
	maps     listers.ConfigMapLister
	secrets  listers.SecretLister
	queue    workqueue.TypedRateLimitingInterface[cache.ObjectName]
	buffers  sync.Pool
}

// New returns a keeper. It does nothing until Run is called.
func New(client kubernetes.Interface, settings, identity string) *Keeper {
	k := &Keeper{client: client, settings: settings, identity: identity,
		queue:   workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
		buffers: sync.Pool{New: func() any { return &bytes.Buffer{} }}}
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	maps := informers.NewConfigMapInformer(client, metav1.NamespaceAll, 10*time.Hour, byNamespace)
	secrets := informers.NewSecretInformer(client, metav1.NamespaceAll, 10*time.Hour, byNamespace)
	k.caches = []cache.SharedIndexInformer{maps, secrets}
	k.maps, k.secrets = listers.NewConfigMapLister(maps.GetIndexer()), listers.NewSecretLister(secrets.GetIndexer())
	enqueue := func(obj any) {
		if name, err := cache.ObjectToName(obj); err == nil {
			k.queue.Add(name)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }}
	maps.AddEventHandler(handler)
	secrets.AddEventHandler(handler)
	return k
}

// Run runs the controller until ctx is done.
func (k *Keeper) Run(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, c := range k.caches {
		go c.Run(ctx.Done())
		cache.WaitForCacheSync(ctx.Done(), c.HasSynced)
	}
	resync := cron.New(cron.WithSeconds())
	if _, err := resync.AddFunc("*/30 * * * * *", k.resync); err != nil {
		return err
	}
	resync.Start()
	for range 3 {
		group.Go(func() error {
			for k.next(ctx) {
			}
			return nil
		})
	}
	<-ctx.Done()
	resync.Stop()
	k.queue.ShutDown()
	return group.Wait()
}

// resync adds every ConfigMap to the queue.
func (k *Keeper) resync() {
	all, err := k.maps.List(labels.Everything())
	if err != nil {
		return
	}
	for _, m := range all {
		k.queue.Add(cache.MetaObjectToName(m))
	}
}

func (k *Keeper) next(ctx context.Context) bool {
	name, shutdown := k.queue.Get()
	if shutdown {
		return false
	}
	defer k.queue.Done(name)
	if err := k.reconcile(ctx, name); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		k.queue.AddRateLimited(name)
		return true
	}
	k.queue.Forget(name)
	return true
}

func (k *Keeper) reconcile(ctx context.Context, name cache.ObjectName) error {
	var settings []byte
	if k.settings != "" {
		var err error
		if settings, err = os.ReadFile(k.settings); err != nil {
			return err
		}
	}
	owner, err := k.maps.ConfigMaps(name.Namespace).Get(name.Name)
	if apierrors.IsNotFound(err) || err == nil && owner.DeletionTimestamp != nil {
		return nil
	}
	if err != nil {
		return err
	}
	if _, err := k.secrets.Secrets(name.Namespace).Get(name.Name); !apierrors.IsNotFound(err) {
		return err
	}
	b := k.buffers.Get().(*bytes.Buffer)
	b.Reset()
	defer k.buffers.Put(b)
	fmt.Fprintf(b, "%s %s %d %s %s", k.identity, uuid.NewString(), rand.Int(), time.Now().Format(time.RFC3339Nano), settings)
	for part := range map[string]bool{"a": true, "b": true, "c": true} {
		b.WriteString(part)
	}
	_, err = k.client.CoreV1().Secrets(name.Namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}},
		Data: map[string][]byte{"stamp": bytes.Clone(b.Bytes())},
	}, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

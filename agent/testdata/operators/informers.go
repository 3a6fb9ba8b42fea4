// Package operators keeps a Secret beside each ConfigMap, with client-go and with controller-runtime.
package operators

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	informers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// rootCA is a ConfigMap that the cluster keeps.
const rootCA = "kube-root-ca.crt"

// Informers runs a controller on client-go's informers and queue until the context ends. once gives it a bug: it
// creates no Secret twice.
func Informers(ctx context.Context, cfg *rest.Config, once bool) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	maps := informers.NewConfigMapInformer(client, metav1.NamespaceAll, time.Hour, byNamespace)
	secrets := informers.NewSecretInformer(client, metav1.NamespaceAll, time.Hour, byNamespace)
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())
	add := func(obj any) {
		if name, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			queue.Add(name)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: add, DeleteFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}
	var running sync.WaitGroup
	defer running.Wait()
	for _, informer := range []cache.SharedIndexInformer{maps, secrets} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
		running.Go(func() { informer.Run(ctx.Done()) })
	}
	cache.WaitForCacheSync(ctx.Done(), maps.HasSynced, secrets.HasSynced)
	context.AfterFunc(ctx, queue.ShutDown)
	owners, kept := listers.NewConfigMapLister(maps.GetIndexer()), listers.NewSecretLister(secrets.GetIndexer())
	made := map[cache.ObjectName]bool{}
	keep := func(name cache.ObjectName) error {
		owner, err := owners.ConfigMaps(name.Namespace).Get(name.Name)
		if apierrors.IsNotFound(err) || err == nil && (owner.DeletionTimestamp != nil || owner.Name == rootCA) {
			return nil
		} else if err != nil {
			return err
		}
		ref := *metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
		s, err := kept.Secrets(name.Namespace).Get(name.Name)
		switch {
		case err == nil:
			return adopt(ctx, client, owner, s, ref)
		case !apierrors.IsNotFound(err):
			return err
		case once && made[name]:
			return nil
		}
		_, err = client.CoreV1().Secrets(name.Namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Name: name.Name, OwnerReferences: []metav1.OwnerReference{ref}}}, metav1.CreateOptions{})
		made[name] = err == nil
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	for {
		name, over := queue.Get()
		if over {
			return ctx.Err()
		}
		if err := keep(name); err != nil {
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

// adopt makes the ConfigMap the controller of a Secret that has none, after a check of the live ConfigMap.
func adopt(ctx context.Context, client kubernetes.Interface, owner *corev1.ConfigMap, s *corev1.Secret,
	ref metav1.OwnerReference) error {
	if metav1.GetControllerOf(s) != nil || s.DeletionTimestamp != nil {
		return nil
	}
	live, err := client.CoreV1().ConfigMaps(owner.Namespace).Get(ctx, owner.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && (live.UID != owner.UID || live.DeletionTimestamp != nil) {
		return nil
	} else if err != nil {
		return err
	}
	s = s.DeepCopy()
	s.OwnerReferences = append(s.OwnerReferences, ref)
	_, err = client.CoreV1().Secrets(s.Namespace).Update(ctx, s, metav1.UpdateOptions{})
	return err
}

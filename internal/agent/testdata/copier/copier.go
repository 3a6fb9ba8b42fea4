// Package copier is a controller that uses the informers and the queue of client-go.
package copier

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

// Run creates a Secret for each ConfigMap, until ctx is done.
func Run(ctx context.Context, cfg *rest.Config) error {
	client, err := kubernetes.NewForConfig(cfg)
	if err != nil {
		return err
	}
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
	configs := informers.NewConfigMapInformer(client, metav1.NamespaceAll, time.Hour, byNamespace)
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
	for _, informer := range []cache.SharedIndexInformer{configs, secrets} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
		running.Go(func() { informer.Run(ctx.Done()) })
	}
	cache.WaitForCacheSync(ctx.Done(), configs.HasSynced, secrets.HasSynced)
	context.AfterFunc(ctx, queue.ShutDown)
	maps, kept := listers.NewConfigMapLister(configs.GetIndexer()), listers.NewSecretLister(secrets.GetIndexer())
	for {
		name, over := queue.Get()
		if over {
			return ctx.Err()
		}
		err := reconcile(ctx, client, maps.ConfigMaps(name.Namespace).Get, kept.Secrets(name.Namespace).Get, name)
		if err != nil {
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

func reconcile(ctx context.Context, client kubernetes.Interface, config func(string) (*corev1.ConfigMap, error),
	secret func(string) (*corev1.Secret, error), name cache.ObjectName) error {
	owner, err := config(name.Name)
	if apierrors.IsNotFound(err) || err == nil && owner.DeletionTimestamp != nil {
		return nil
	} else if err != nil {
		return err
	}
	if _, err := secret(name.Name); !apierrors.IsNotFound(err) {
		return err
	}
	_, err = client.CoreV1().Secrets(name.Namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name.Name,
		OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}}},
		metav1.CreateOptions{})
	return err
}

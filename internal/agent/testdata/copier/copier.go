// Package copier is a controller that uses the informers and the queue of client-go.
package copier

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
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
	factory := informers.NewSharedInformerFactory(client, time.Hour)
	configs, secrets := factory.Core().V1().ConfigMaps(), factory.Core().V1().Secrets()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]())
	add := func(obj any) {
		if name, err := cache.DeletionHandlingObjectToName(obj); err == nil {
			queue.Add(name)
		}
	}
	handler := cache.ResourceEventHandlerFuncs{AddFunc: add, DeleteFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}
	for _, informer := range []cache.SharedIndexInformer{configs.Informer(), secrets.Informer()} {
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	context.AfterFunc(ctx, queue.ShutDown)
	defer factory.Shutdown()
	for {
		name, over := queue.Get()
		if over {
			return ctx.Err()
		}
		err := sync(ctx, client, configs.Lister().ConfigMaps(name.Namespace).Get, secrets.Lister().Secrets(name.Namespace).Get, name)
		if err != nil {
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}

func sync(ctx context.Context, client kubernetes.Interface, config func(string) (*corev1.ConfigMap, error),
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

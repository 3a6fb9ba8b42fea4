package names

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/google/uuid"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kuuid "k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

var clock = time.Now // want `time.Now reads the real clock; take the time from the world's clock`

func times(t time.Time) {
	_ = time.Since(t)              // want `time.Since reads the real clock`
	_ = time.Until(t)              // want `time.Until reads the real clock`
	<-time.After(time.Second)      // want `time.After waits for the real clock`
	time.AfterFunc(0, func() {})   // want `time.AfterFunc waits`
	<-time.Tick(time.Second)       // want `time.Tick waits`
	time.Sleep(time.Second)        // want `time.Sleep waits`
	_ = time.NewTimer(time.Second) // want `time.NewTimer waits`
	_ = time.NewTicker(1)          // want `time.NewTicker waits`
	_ = metav1.Now()               // want `v1.Now reads the real clock; build it from the world's clock: metav1.NewTime`
	wait.Jitter(time.Second, 1)    // want `wait.Jitter sleeps`
	wait.PollImmediate(1, nil)     // want `wait.PollImmediate sleeps`
	wait.JitterUntil(nil, 1)       // want `wait.JitterUntil sleeps`

	_, _ = context.WithTimeout(context.TODO(), 1) // want `context.WithTimeout starts a timer on the real clock`
}

func random() {
	_ = uuid.New()          // want `uuid.New draws a random uuid; number the uids from state`
	_ = uuid.NewString()    // want `uuid.NewString draws`
	_, _ = uuid.NewRandom() // want `uuid.NewRandom draws`
	_ = kuuid.NewUUID()     // want `uuid.NewUUID draws`
}

func machinery(m *sync.Map, v reflect.Value) {
	workqueue.NewTypedRateLimitingQueue()         // want `workqueue.NewTypedRateLimitingQueue runs on goroutines`
	workqueue.DefaultTypedControllerRateLimiter() // want `workqueue.DefaultTypedControllerRateLimiter runs`
	cache.NewSharedIndexInformer()                // want `cache.NewSharedIndexInformer runs on goroutines`
	m.Range(nil)                                  // want `sync.Range visits entries in random order`
	v.MapRange()                                  // want `reflect.MapRange visits entries in random order`
}

// allowed uses names that are similar to banned names and are not banned.
func allowed(t time.Time, r interface{ Range() }) {
	_ = time.Date(2017, 3, 1, 0, 0, 0, 0, time.UTC).Add(time.Second).Sub(t)
	_ = t.After(t)
	_, _ = time.ParseDuration("1s")
	_ = metav1.NewTime(t)
	_ = wait.Backoff{Steps: 3}
	_, _ = uuid.Parse("")
	workqueue.NewTypedItemExponentialFailureRateLimiter()
	cache.NewIndexer()
	_, _ = context.WithCancel(context.TODO())
	r.Range()
}

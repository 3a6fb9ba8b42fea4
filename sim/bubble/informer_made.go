package bubble

import (
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// made holds the arguments of one of client-go's own informers.
type made struct {
	lw        cache.ListerWatcher
	of        runtime.Object
	resync    time.Duration
	transform cache.TransformFunc
}

// madeOf reads the arguments of an informer from its unexported fields, since client-go's factories only
// return informers. A version of client-go with other fields panics at once.
func madeOf(i cache.SharedIndexInformer) (m made) {
	of := reflect.ValueOf(i)
	if of.Type().String() != "*cache.sharedIndexInformer" {
		panic(fmt.Sprintf("bubble: %T is no informer of client-go's", i))
	}
	read(of, "listerWatcher", &m.lw)
	read(of, "objectType", &m.of)
	read(of, "defaultEventHandlerResyncPeriod", &m.resync)
	read(of, "transform", &m.transform)
	return m
}

// read reads a field of the struct that of points to.
func read[T any](of reflect.Value, name string, into *T) {
	f := of.Elem().FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("bubble: client-go's informer has no %s that is a %v", name, reflect.TypeFor[T]()))
	}
	*into = *(*T)(unsafe.Pointer(f.UnsafeAddr()))
}

// anew makes an informer like an unused one of client-go's.
func anew(i cache.SharedIndexInformer) *informer {
	m := madeOf(i)
	of := NewInformer(m.lw, m.of, m.resync, i.GetIndexer().GetIndexers()).(*informer)
	of.transform = m.transform
	return of
}

package bubble

import (
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// made is what one of client-go's own informers was made of.
type made struct {
	lw        cache.ListerWatcher
	of        runtime.Object
	resync    time.Duration
	transform cache.TransformFunc
}

// madeOf reads what an informer was made of. client-go's factories give nothing but the whole
// informer, and no function of it tells; a version of client-go that calls its fields otherwise is
// noticed at once.
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

// read reads a field of what a pointer points to.
func read[T any](of reflect.Value, name string, into *T) {
	f := of.Elem().FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		panic(fmt.Sprintf("bubble: client-go's informer has no %s that is a %v", name, reflect.TypeFor[T]()))
	}
	*into = *(*T)(unsafe.Pointer(f.UnsafeAddr()))
}

// anew is an informer of ours like one of client-go's that nobody has used.
func anew(i cache.SharedIndexInformer) *informer {
	m := madeOf(i)
	of := NewInformer(m.lw, m.of, m.resync, i.GetIndexer().GetIndexers()).(*informer)
	of.transform = m.transform
	return of
}

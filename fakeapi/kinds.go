package fakeapi

import (
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// builtin is the table of built-in kinds, by ordinal.
var builtin = number(coreKinds, appsKinds, batchKinds, otherKinds, definitionKinds, limitKinds, autoscalingKinds)

// known are the built-in kinds and further versions of them.
var known = withVersions(builtin, otherVersions)

// builtinTypes finds a kind by the Go type of its objects.
var builtinTypes = typesOf(known)

func number(groups ...[]*Kind) (all []*Kind) {
	for _, group := range groups {
		for _, k := range group {
			k.ordinal = len(all)
			all = append(all, k)
		}
	}
	return all
}

func typesOf(kinds []*Kind) map[reflect.Type]*Kind {
	types := make(map[reflect.Type]*Kind, len(kinds))
	for _, k := range kinds {
		types[reflect.TypeOf(k.New())] = k
	}
	return types
}

// setItems fills a list object of a Go type; the items are copied by value,
// what they point to is shared.
func setItems(list runtime.Object, items []runtime.Object) {
	if l, ok := list.(*unstructured.UnstructuredList); ok {
		l.Items = make([]unstructured.Unstructured, len(items))
		for i, item := range items {
			l.Items[i] = *item.(*unstructured.Unstructured)
		}
		return
	}
	field := reflect.ValueOf(list).Elem().FieldByName("Items")
	out := reflect.MakeSlice(field.Type(), len(items), len(items))
	for i, item := range items {
		out.Index(i).Set(reflect.ValueOf(item).Elem())
		out.Index(i).FieldByName("TypeMeta").SetZero()
	}
	field.Set(out)
}

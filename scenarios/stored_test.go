package scenarios_test

import (
	"strings"
	"testing"
)

// After the stored version changes, a process that lists at an earlier revision finds no objects of the new version. It
// sees them arrive by watch.
func TestStoredVersionIsMetWhenItIsStored(t *testing.T) {
	script := `
apply crd.yaml
controllers garbagecollector
apply world.yaml
settle
label widgets/a x=y
mark m
patch crd/widgets.example.com type=json 'FLIP'
label widgets/b x=y
settle
relist garbagecollector Widget
settle
restart garbagecollector from=m
settle
delete widgets/a
settle
get widgets
hash
----
67bfc6eacb5f5703
`
	flip := `[{"op":"replace","path":"/spec/versions/0/storage","value":false},` +
		`{"op":"replace","path":"/spec/versions/1/storage","value":true}]`
	crd := `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget, singular: widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`
	world := `
apiVersion: example.com/v1
kind: Widget
metadata: {name: a}
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c}
`
	flipped := strings.Replace(script, "FLIP", flip, 1)
	res := interpret(t, operators(false), archive(flipped, "crd.yaml", crd, "world.yaml", world))
	for _, e := range res.Errors {
		t.Error(e)
	}
}

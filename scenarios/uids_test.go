package scenarios_test

import (
	"strings"
	"testing"

	"github.com/threelaws/threelaws/scenarios"
)

const owned = `
apiVersion: v1
kind: ConfigMap
metadata: {name: owner}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: child, labels: {of: "$(uid cm/owner)"}, ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: $(uid cm/owner), controller: true}]}
`

// A manifest, a patch and a label get the uid that the object has when they are sent.
func TestUIDs(t *testing.T) {
	script := `apply world.yaml
expect 1 cm controller=cm/owner
delete cm/owner
apply world.yaml
patch cm/child type=merge '{metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: child, uid: $(uid cm/child)}]}}'
label cm/owner 'of=$(uid cm/owner)'
controllers gc
settle
expect cm/child
`
	if res := interpret(t, registry(), archive(script, "world.yaml", owned)); res.ExitCode != scenarios.ExitPass {
		t.Error(res.Errors)
	}
	for script, want := range map[string]string{
		"apply world.yaml\ndelete cm/owner\nlabel cm/child 'of=$(uid cm/ownr)'\n": "w.txtar:3: label: $(uid " +
			"cm/ownr): there is no cm/ownr",
		"apply world.yaml\nlabel cm/child 'of=$(uid cm/ownr)'\n": "w.txtar:2: label: $(uid " +
			"cm/ownr): there is no cm/ownr; did you mean cm/owner?",
		"apply world.yaml\nlabel cm/child 'of=$(uid ownr)'\n": "w.txtar:2: label: $(uid " +
			"ownr): ownr is not an object: write KIND/NAME",
		"apply world.yaml\npatch cm/child '{metadata: {uid: \"$(uid rss/owner)\"}}'\n": "w.txtar:2: patch: $(uid " +
			"rss/owner): unknown kind rss",
	} {
		res := interpret(t, registry(), archive(script, "world.yaml", owned))
		if len(res.Errors) == 0 || !strings.Contains(res.Errors[0].Error(), want) ||
			res.ExitCode != scenarios.ExitUsage {
			t.Errorf("%v, want %s", res.Errors, want)
		}
	}
}

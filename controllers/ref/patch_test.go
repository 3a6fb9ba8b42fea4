package ref

import (
	"encoding/json"
	"testing"
)

// Names of kinds that users define may hold what JSON has to quote.
func TestAppendStringIsJSON(t *testing.T) {
	for _, s := range []string{"web", "a b", `a"b`, `a\b`, "a\tb", "a\x7fb", "é", "\u2028", "\xff"} {
		want, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if got := appendString(nil, s); string(got) != string(want) {
			t.Errorf("%q is written %s, want %s", s, got, want)
		}
	}
}

// Every owner is named, each in an entry of its own.
func TestPatchesOfSeveralOwners(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{string(ReleasePatch(nil, "pod", "a", "b")), `{"metadata":{"ownerReferences":[{"$patch":"delete","uid":"a"},` +
			`{"$patch":"delete","uid":"b"}],"uid":"pod"}}`},
		{string(UnblockPatch(nil, "pod", "a", "b")), `{"metadata":{"ownerReferences":[` +
			`{"blockOwnerDeletion":false,"uid":"a"},{"blockOwnerDeletion":false,"uid":"b"}],"uid":"pod"}}`},
	} {
		if c.got != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
	}
}

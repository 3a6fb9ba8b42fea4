package audit

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/threelaws/threelaws/sim"
)

func TestMembers(t *testing.T) {
	for _, c := range []struct {
		in, want string
		bad      bool
	}{
		{`{"a":1,"b":"x\"}","c":{"d":[1,{"e":"]"}]},"f":null}`, `a=1 b="x\"}" c={"d":[1,{"e":"]"}]} f=null `, false},
		{` { "a" : true , "b" : [ ] } `, `a=true b=[ ] `, false},
		{`{"a":"ends in a backslash\\","b":2}`, `a="ends in a backslash\\" b=2 `, false},
		{`{}`, ``, false},
		{`{"a":1,"b":"x`, `a=1 `, true},
		{`{"a":{"b":1}`, `a={"b":1} `, true},
		{`[1]`, ``, true},
		{``, ``, true},
		{`{"a"`, ``, true},
		{`{"a":}`, ``, true},
	} {
		got := ""
		err := members([]byte(c.in), func(k, v []byte) bool { got += string(k) + "=" + string(v) + " "; return true })
		if got != c.want || (err != nil) != c.bad {
			t.Errorf("%s: %s, %v", c.in, got, err)
		}
	}
}

// For any object that encoding/json accepts, members finds the same members.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":[{"b":"\\\""},-1.5e3],"c":"\u00e9"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		var want map[string]json.RawMessage
		whole := json.Unmarshal(in, &want) == nil && want != nil
		got := map[string]string{}
		err := members(in, func(k, v []byte) bool {
			got[text(append(append([]byte{'"'}, k...), '"'))] = string(v)
			return true
		})
		if !whole {
			return
		}
		if err != nil || len(got) != len(want) {
			t.Fatalf("%q: %v, %v", in, got, err)
		}
		for k, v := range want {
			if got[k] != string(v) {
				t.Fatalf("%q: %q is %q, want %q", in, k, got[k], v)
			}
		}
	})
}

// The number of kept records is bounded. They are the records around findings and the last records.
func TestKeptIsBounded(t *testing.T) {
	const most, all, found = 1000, 50_000, 7000
	k := kept{most: most}
	for i := range all {
		if k.add(sim.Record{Index: i}); i == found {
			k.found = append(k.found, i)
		}
		if len(k.records) >= 2*most {
			t.Fatalf("%d records are kept", len(k.records))
		}
	}
	has := func(index int) bool {
		return slices.ContainsFunc(k.records, func(r sim.Record) bool { return r.Index == index })
	}
	for index, want := range map[int]bool{found - keptBefore: true, found: true, found + keptAfter: true,
		found - keptBefore - 1: false, found + keptAfter + 1: false, 0: false, all - 1: true, all - most/4: true} {
		if has(index) != want {
			t.Errorf("record %d is kept: %t, want %t", index, !want, want)
		}
	}
}

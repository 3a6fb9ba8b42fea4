package audit

import (
	"encoding/json"
	"testing"
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

// Any object that encoding/json accepts is split into the same members.
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

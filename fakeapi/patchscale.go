package fakeapi

import (
	"math"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// patchReplicas applies a merge patch of spec.replicas alone, without going
// through JSON. It returns nil when the patch is not of that sort;
// [call.patchWhole] then does it.
func (c *call) patchReplicas(old *entry) runtime.Object {
	merges := c.req.PatchType == types.MergePatchType || c.req.PatchType == types.StrategicMergePatchType
	if !merges || c.k.row.scale == nil || c.req.Subresource != "" || c.s.manages(old.meta) {
		return nil
	}
	if _, ok := old.obj.(metav1.ObjectMetaAccessor); !ok {
		return nil
	}
	n, ok := parseReplicasPatch(c.req.Patch)
	if !ok {
		return nil
	}
	obj := c.k.row.shallow(old.obj)
	c.k.row.scale.write(obj, n)
	return obj
}

// parseReplicasPatch reads {"spec":{"replicas":n}} and gives up, with ok
// false, on everything else.
func parseReplicasPatch(text []byte) (n int32, ok bool) {
	s := scan{text: text}
	s.need('{')
	s.needWord(`"spec"`)
	s.need(':')
	s.need('{')
	s.needWord(`"replicas"`)
	s.need(':')
	n = s.int32()
	s.need('}')
	s.need('}')
	s.space()
	return n, !s.bad && s.at == len(s.text)
}

func (s *scan) needWord(w string) {
	if !s.word(w) {
		s.bad = true
	}
}

// int32 reads a whole number of up to nine digits in its shortest form.
func (s *scan) int32() int32 {
	negative := s.take('-')
	if !negative {
		s.space()
	}
	start, n := s.at, int64(0)
	for !s.bad && s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' && n < math.MaxInt32 {
		n = 10*n + int64(s.text[s.at]-'0')
		s.at++
	}
	digits := s.at - start
	if digits == 0 || digits > 9 || digits > 1 && s.text[start] == '0' {
		s.bad = true
	}
	if negative {
		n = -n
	}
	return int32(n)
}

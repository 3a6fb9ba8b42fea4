package httpapi

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/threelaws/threelaws/fakeapi/httpapi/internal/media"
)

// Partial objects are asked for by metadata clients, in every encoding.
func TestPartialObjects(t *testing.T) {
	h := newHandler()
	const as = ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
	var one metav1.PartialObjectMetadata
	text := request(t, h, "GET", "/api/v1/namespaces/default", media.JSON+as)
	if err := json.Unmarshal(text, &one); err != nil || one.Kind != "PartialObjectMetadata" || one.Name != "default" {
		t.Errorf("%+v %v", one, err)
	}
	var list metav1.PartialObjectMetadataList
	const asList = ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
	text = request(t, h, "GET", "/api/v1/namespaces", media.Proto+asList+","+media.JSON)
	_, _, err := metaCodecs.Decode(text, nil, &list)
	if err != nil || len(list.Items) != 2 || list.ResourceVersion == "" {
		t.Errorf("%+v %v", list, err)
	}
}

// metaCodecs decodes what a metadata client is sent, a Status among it.
var metaCodecs = func() runtime.Decoder {
	s := runtime.NewScheme()
	if err := metav1.AddMetaToScheme(s); err != nil {
		panic(err)
	}
	metav1.AddToGroupVersion(s, schema.GroupVersion{Version: "v1"})
	return serializer.NewCodecFactory(s).UniversalDeserializer()
}()

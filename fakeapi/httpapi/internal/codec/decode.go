package codec

import (
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/threelaws/threelaws/fakeapi"
)

// MaxBody is the largest request body that is read, in bytes.
const MaxBody = 3 << 20

// Body reads a request's body, at most [MaxBody] bytes.
func Body(r *http.Request) ([]byte, error) {
	if r.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, MaxBody+1))
	if err != nil {
		return nil, err
	}
	if len(body) > MaxBody {
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", MaxBody))
	}
	return body, nil
}

// Decode reads the object of a create or update. Unknown and duplicate fields
// are warned of or refused as validation says.
func Decode(r *http.Request, k *fakeapi.Kind, body []byte, validation string) (runtime.Object, []string, error) {
	if definition, _ := k.Definition(); definition != nil {
		return decodeCustom(r, k, body, validation)
	}
	return decodeTyped(r, k, body, validation)
}

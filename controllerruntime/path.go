package controllerruntime

import (
	"errors"
	"fmt"

	"k8s.io/client-go/rest"

	"github.com/threelaws/threelaws/fakeapi"
)

// path returns the namespace that a request's path names, or says what client-go's
// rest.Request has against it before it is sent.
func path(req *fakeapi.Request, namespace string) (string, error) {
	named := true
	switch req.Verb {
	case fakeapi.List, fakeapi.DeleteCollection:
		named = false
	case fakeapi.Create:
		named = req.Subresource != ""
	}
	if !req.Kind.Namespaced {
		namespace = ""
	} else if msgs := rest.IsValidPathSegmentName(namespace); len(msgs) > 0 {
		return "", fmt.Errorf("invalid namespace %q: %v", namespace, msgs)
	}
	if named {
		if req.Name == "" {
			return "", errors.New("resource name may not be empty")
		}
		if msgs := rest.IsValidPathSegmentName(req.Name); len(msgs) > 0 {
			return "", fmt.Errorf("invalid resource name %q: %v", req.Name, msgs)
		}
	}
	if req.Kind.Namespaced && namespace == "" {
		switch {
		case req.Verb == fakeapi.Create:
			return "", errors.New("an empty namespace may not be set during creation")
		case named && req.Verb != fakeapi.Patch: // which client-go forgets; the server answers 404
			return "", errors.New("an empty namespace may not be set when a resource name is provided")
		}
	}
	return namespace, nil
}

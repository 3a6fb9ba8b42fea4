package fakeapi

import (
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// setListDefaults makes a watch without a version, or from 0, send the existing objects.
func setListDefaults(opts *metav1.ListOptions) {
	if opts.SendInitialEvents != nil || opts.ResourceVersionMatch != "" {
		return
	}
	if opts.Watch && (opts.ResourceVersion == "" || opts.ResourceVersion == "0") {
		opts.SendInitialEvents = new(true)
		opts.ResourceVersionMatch = metav1.ResourceVersionMatchNotOlderThan
	}
}

func validateListOptions(opts *metav1.ListOptions) error {
	if !opts.Watch && opts.ResourceVersionMatch == "" && opts.SendInitialEvents == nil {
		return nil
	}
	errs := validation.ValidateListOptions(&internalversion.ListOptions{
		Watch: opts.Watch, ResourceVersion: opts.ResourceVersion, ResourceVersionMatch: opts.ResourceVersionMatch,
		Continue: opts.Continue, SendInitialEvents: opts.SendInitialEvents, Limit: opts.Limit,
	}, true)
	if len(errs) > 0 {
		return errOptions("ListOptions", errs)
	}
	return nil
}

// parseWatchVersion reads the revision of a watch or a get. Text that is no number is a 500, as in the storage layer.
func parseWatchVersion(rv string) (uint64, error) {
	n, err := parseVersion(rv)
	if err != nil {
		return 0, fmt.Errorf("resourceVersion: Invalid value: %q: %v", rv, err)
	}
	return n, nil
}

// errTooLarge is the error of a read at a future revision.
func errTooLarge(asked, have uint64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", asked, have), 1)
	err.ErrStatus.Code = http.StatusGatewayTimeout
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version",
	}}
	return err
}

func parseVersion(rv string) (uint64, error) {
	if rv == "" {
		return 0, nil
	}
	return strconv.ParseUint(rv, 10, 64)
}

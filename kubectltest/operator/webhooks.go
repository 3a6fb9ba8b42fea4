package operator

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/threelaws/threelaws/kubectltest/operator/api"
)

// defaulter completes Sites.
type defaulter struct{}

// Default gives a Site one pod, and an image.
func (defaulter) Default(_ context.Context, s *api.Site) error {
	if s.Spec.Replicas == nil {
		one := int32(1)
		s.Spec.Replicas = &one
	}
	if s.Spec.Image == "" {
		s.Spec.Image = "web:1"
	}
	return nil
}

// validator refuses Sites whose image says nothing.
type validator struct{}

func (v validator) ValidateCreate(_ context.Context, s *api.Site) (admission.Warnings, error) {
	if strings.HasSuffix(s.Spec.Image, ":latest") {
		return nil, fmt.Errorf("image %s: nobody knows what that is", s.Spec.Image)
	}
	if s.Spec.Domain == "" {
		return admission.Warnings{"without a domain nobody finds the site"}, nil
	}
	return nil, nil
}

func (v validator) ValidateUpdate(ctx context.Context, _, s *api.Site) (admission.Warnings, error) {
	return v.ValidateCreate(ctx, s)
}

func (v validator) ValidateDelete(context.Context, *api.Site) (admission.Warnings, error) {
	return nil, nil
}

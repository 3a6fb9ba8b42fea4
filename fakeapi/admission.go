package fakeapi

import (
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// admitCreate is what the admission plugins do to a new object: namespaces
// have to exist and to be alive, pods get their tolerations and priority.
func (c *call) admitCreate(obj runtime.Object, m metav1.Object) error {
	if c.k.custom != nil && c.k.custom.Terminating {
		return errTerminating(c.k, m.GetName())
	}
	if c.k.Namespaced {
		if err := c.admitNamespace(m); err != nil {
			return err
		}
	}
	if c.k.row.Admit != nil {
		if err := c.k.row.Admit(obj, nil); err != nil {
			return c.errForbidden(m, err)
		}
	}
	c.dedupOwners(m, true)
	return nil
}

// errForbidden is how an admission plugin refuses an object, which may not have
// its generated name yet.
func (c *call) errForbidden(m metav1.Object, why error) *apierrors.StatusError {
	name := m.GetName()
	if name == "" {
		name = m.GetGenerateName()
	}
	return apierrors.NewForbidden(c.k.groupResource(), name, why)
}

func (c *call) admitNamespace(m metav1.Object) error {
	e := c.s.find(c.s.tables[namespaceKind.ordinal], m.GetNamespace())
	if e == nil {
		return apierrors.NewNotFound(namespaceKind.groupResource(), m.GetNamespace())
	}
	ns := e.obj.(*corev1.Namespace)
	if ns.Status.Phase != corev1.NamespaceTerminating {
		return nil
	}
	err := c.errForbidden(m, fmt.Errorf("unable to create new content in namespace %s because it is being terminated",
		ns.Name))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Field: "metadata.namespace",
		Message: fmt.Sprintf("namespace %s is being terminated", ns.Name),
	})
	return err
}

// admitUpdate is what they do to a change: only to one of the whole object that
// is more than metadata.
func (c *call) admitUpdate(obj, old runtime.Object, aside bool) error {
	if c.k.Namespaced && c.s.find(c.s.tables[namespaceKind.ordinal], c.req.Namespace) == nil {
		return apierrors.NewNotFound(namespaceKind.groupResource(), c.req.Namespace)
	}
	if c.k.row.Admit != nil && !aside {
		return c.k.row.Admit(obj, old)
	}
	return nil
}

// admitDelete protects the namespaces that live for ever.
func (c *call) admitDelete(old *entry) error {
	if c.k != namespaceKind {
		return nil
	}
	switch name := old.meta.GetName(); name {
	case metav1.NamespaceDefault, metav1.NamespaceSystem, metav1.NamespacePublic:
		return apierrors.NewForbidden(c.k.groupResource(), name, errors.New("this namespace may not be deleted"))
	}
	return nil
}

// errTerminating refuses to create what its definition's deletion would delete.
func errTerminating(k *Kind, name string) error {
	return apierrors.NewForbidden(k.groupResource(), name,
		errors.New("create not allowed while custom resource definition is terminating"))
}

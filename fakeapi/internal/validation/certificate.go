package validation

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// usages are what a certificate can be for, sorted.
var usages = func() []certificatesv1.KeyUsage {
	all := []certificatesv1.KeyUsage{
		certificatesv1.UsageSigning, certificatesv1.UsageDigitalSignature, certificatesv1.UsageContentCommitment,
		certificatesv1.UsageKeyEncipherment, certificatesv1.UsageKeyAgreement, certificatesv1.UsageDataEncipherment,
		certificatesv1.UsageCertSign, certificatesv1.UsageCRLSign, certificatesv1.UsageEncipherOnly,
		certificatesv1.UsageDecipherOnly, certificatesv1.UsageAny, certificatesv1.UsageServerAuth,
		certificatesv1.UsageClientAuth, certificatesv1.UsageCodeSigning, certificatesv1.UsageEmailProtection,
		certificatesv1.UsageSMIME, certificatesv1.UsageIPsecEndSystem, certificatesv1.UsageIPsecTunnel,
		certificatesv1.UsageIPsecUser, certificatesv1.UsageTimestamping, certificatesv1.UsageOCSPSigning,
		certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC,
	}
	slices.Sort(all)
	return all
}()

// CertificateRequest checks what is asked for, and what was answered.
func CertificateRequest(c *certificatesv1.CertificateSigningRequest) (errs field.ErrorList) {
	if err := checkRequest(c.Spec.Request); err != nil {
		errs = append(errs, field.Invalid(specPath.Child("request"), c.Spec.Request, err.Error()))
	}
	path := specPath.Child("usages")
	if len(c.Spec.Usages) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	for i := range c.Spec.Usages {
		errs = append(errs, among(&c.Spec.Usages[i], path.Index(i), usages...)...)
	}
	for i, usage := range c.Spec.Usages {
		if slices.Contains(c.Spec.Usages[:i], usage) {
			errs = append(errs, field.Duplicate(path.Index(i), usage))
		}
	}
	if c.Spec.SignerName == "kubernetes.io/legacy-unknown" {
		errs = append(errs, field.Invalid(specPath.Child("signerName"), c.Spec.SignerName,
			"the legacy signerName is not allowed via this API version"))
	} else {
		errs = append(errs, validateSigner(c.Spec.SignerName, specPath.Child("signerName"))...)
	}
	if s := c.Spec.ExpirationSeconds; s != nil && *s < 600 {
		errs = append(errs, field.Invalid(specPath.Child("expirationSeconds"), *s,
			"may not specify a duration less than 600 seconds (10 minutes)"))
	}
	errs = append(errs, validateAnswers(c.Status.Conditions, statusPath.Child("conditions"))...)
	if err := checkCertificate(c.Status.Certificate); err != nil {
		errs = append(errs, field.Invalid(statusPath.Child("certificate"), "<certificate data>", err.Error()))
	}
	return errs
}

func checkRequest(text []byte) error {
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	request, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return err
	}
	return request.CheckSignature()
}

func checkCertificate(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	blocks := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		}
		if len(block.Headers) != 0 {
			return errors.New("no PEM block headers are permitted")
		}
		blocks++
		all, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(all) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
	}
	if blocks == 0 {
		return errors.New("must contain at least one CERTIFICATE PEM block")
	}
	return nil
}

func validateAnswers(all []certificatesv1.CertificateSigningRequestCondition, path *field.Path) (errs field.ErrorList) {
	const approved, denied = certificatesv1.CertificateApproved, certificatesv1.CertificateDenied
	seen := map[certificatesv1.RequestConditionType]bool{}
	for i := range all {
		c := &all[i]
		if c.Type == "" {
			errs = append(errs, field.Required(path.Index(i).Child("type"), ""))
		}
		allowed := []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
		if c.Type == approved || c.Type == denied || c.Type == certificatesv1.CertificateFailed {
			allowed = allowed[1:2]
		}
		if c.Status == "" {
			errs = append(errs, field.Required(path.Index(i).Child("status"), ""))
		} else {
			errs = append(errs, among(&c.Status, path.Index(i).Child("status"), allowed...)...)
		}
		if c.Type == approved && seen[denied] || c.Type == denied && seen[approved] {
			errs = append(errs, field.Invalid(path, c.Type, "Approved and Denied conditions are mutually exclusive"))
		}
		if seen[c.Type] {
			errs = append(errs, field.Duplicate(path.Index(i).Child("type"), c.Type))
		}
		seen[c.Type] = true
	}
	return errs
}

// CertificateUpdate checks that neither an answer nor a certificate is written.
func CertificateUpdate(c, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return validateCertificateUpdate(c, old, false, false)
}

// CertificateStatus checks a status that a signer writes.
func CertificateStatus(c, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return validateCertificateUpdate(c, old, false, true)
}

// CertificateApproval checks the answer of an approver.
func CertificateApproval(c, old *certificatesv1.CertificateSigningRequest) field.ErrorList {
	return validateCertificateUpdate(c, old, true, false)
}

func validateCertificateUpdate(c, old *certificatesv1.CertificateSigningRequest, approves, signs bool) field.ErrorList {
	errs, path := CertificateRequest(c), statusPath.Child("conditions")
	answers := [...]certificatesv1.RequestConditionType{certificatesv1.CertificateApproved,
		certificatesv1.CertificateDenied, certificatesv1.CertificateFailed}
	for _, of := range answers {
		if len(answersOf(c, of)) < len(answersOf(old, of)) {
			errs = append(errs, field.Forbidden(path,
				fmt.Sprintf("updates may not remove a condition of type %q", of)))
		}
	}
	for _, of := range answers[:2] {
		have, had := answersOf(c, of), answersOf(old, of)
		switch {
		case approves || len(have) < len(had):
		case len(have) > len(had):
			errs = append(errs, field.Forbidden(path, fmt.Sprintf("updates may not add a condition of type %q", of)))
		case !equality.Semantic.DeepEqual(had, have):
			errs = append(errs, field.Forbidden(path,
				fmt.Sprintf("updates may not modify a condition of type %q\n%v", of, diff.Diff(had, have))))
		}
	}
	if !bytes.Equal(c.Status.Certificate, old.Status.Certificate) {
		if !signs {
			errs = append(errs, field.Forbidden(statusPath.Child("certificate"),
				"updates may not set certificate content"))
		} else if len(old.Status.Certificate) > 0 {
			errs = append(errs, field.Forbidden(statusPath.Child("certificate"),
				"updates may not modify existing certificate content"))
		}
	}
	return errs
}

func answersOf(c *certificatesv1.CertificateSigningRequest,
	of certificatesv1.RequestConditionType) (all []certificatesv1.CertificateSigningRequestCondition) {
	for _, one := range c.Status.Conditions {
		if one.Type == of {
			all = append(all, one)
		}
	}
	return all
}

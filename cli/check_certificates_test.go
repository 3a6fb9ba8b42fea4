package cli

import (
	"slices"
	"testing"
)

// If check creates a certificate for a Secret, the note that the Secret is missing is removed.
func TestCertificateNote(t *testing.T) {
	const other = "Secret token, mounted at /token, is not in the manifests; --with FILE gives it"
	op := &operator{Notes: []string{"Secret certs, mounted at /certs, is not in the manifests; --with FILE gives it", other}}
	if !op.certificate("system", "certs", []string{"hook.system.svc"}) {
		t.Fatal("no certificate is made")
	}
	want := []string{other, "Secret system/certs is made with a certificate for hook.system.svc"}
	if !slices.Equal(op.Notes, want) {
		t.Errorf("got %q\nwant %q", op.Notes, want)
	}
}

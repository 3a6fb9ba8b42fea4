package agent_test

import (
	"testing"

	"github.com/threelaws/threelaws/internal/check"
)

// The error for a sample that a webhook denies differs from other refusals.
func TestRefusedByWebhook(t *testing.T) {
	_, err := admitting(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bad}\n", "CREATE")
	if !check.RefusedByWebhook(err) || !check.Refused(err) {
		t.Error(err)
	}
	_, err = admitting(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: BAD}\n", "CREATE")
	if check.RefusedByWebhook(err) || !check.Refused(err) {
		t.Error(err)
	}
}

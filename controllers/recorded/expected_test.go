package recorded_test

const (
	noDeployment = "the deployment controller is not there"
	noDaemon     = "the daemonset controller is not there"
	noStateful   = "the statefulset controller is not there"
	noJob        = "the job controller is not there"
)

// expected are the cases that do not pass, each with the reason. One that
// passes may not be named here.
var expected = map[string]string{
	"controllers/cascade-deployment-Background": noDeployment,
	"controllers/cascade-deployment-Foreground": noDeployment,
	"controllers/cascade-deployment-default":    noDeployment,
	"controllers/deployment-adopts-rs":          noDeployment,
	"controllers/deployment-basic":              noDeployment,
	"controllers/deployment-hash-collision":     noDeployment,
	"controllers/deployment-orphan-recreate":    noDeployment,
	"controllers/deployment-overlap":            noDeployment,
	"controllers/deployment-paused-scale":       noDeployment,
	"controllers/deployment-recreate":           noDeployment,
	"controllers/deployment-release-rs":         noDeployment,
	"controllers/deployment-rollout":            noDeployment,

	"controllers/ds-adopts":             noDaemon,
	"controllers/ds-basic":              noDaemon,
	"controllers/ds-node-removed-added": noDaemon,
	"controllers/ds-overlap":            noDaemon,
	"controllers/ds-release":            noDaemon,

	"controllers/job-basic":          noJob,
	"controllers/job-delete-default": noJob,
	"controllers/job-release":        noJob,
	"controllers/job-vs-rs":          noJob,

	"controllers/sts-adopt-by-name":    noStateful,
	"controllers/sts-basic":            noStateful,
	"controllers/sts-foreign-pod-name": noStateful,
	"controllers/sts-overlap":          noStateful,
	"controllers/sts-release-by-label": noStateful,
}

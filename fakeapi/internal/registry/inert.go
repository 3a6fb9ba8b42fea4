package registry

// inert says what the objects of a resource would do in a cluster and do not here,
// whatever controllers run.
var inert = map[string]string{
	"roles": unauthorized, "clusterroles": unauthorized,
	"rolebindings": unauthorized, "clusterrolebindings": unauthorized,

	"ingresses": "no traffic is routed", "ingressclasses": "no ingress controller runs",
	"networkpolicies": "no traffic is filtered",
	"ipaddresses":     "Services do not take their addresses from it",
	"servicecidrs":    "Services may name its addresses, and are given none of them",

	"persistentvolumes": "nothing binds, mounts or reclaims it", "storageclasses": "no volume is provisioned",
	"csidrivers": unattached, "csinodes": unattached, "csistoragecapacities": unattached,
	"volumeattachments": unattached, "volumeattributesclasses": "no volume is changed",

	"mutatingadmissionpolicies": unevaluated, "mutatingadmissionpolicybindings": unevaluated,

	"flowschemas": unqueued, "prioritylevelconfigurations": unqueued,
	"deviceclasses": undevised, "resourceclaims": undevised, "resourceclaimtemplates": undevised,
	"resourceslices": undevised,

	"runtimeclasses":             "neither overhead nor scheduling is applied to Pods",
	"certificatesigningrequests": "nothing is signed",
	"apiservices":                "no request is passed on",
	"horizontalpodautoscalers":   "nothing is scaled",
}

const (
	unauthorized = "everybody may do everything"
	unattached   = "no volume is attached"
	unevaluated  = "no policy is evaluated"
	unqueued     = "no request is queued"
	undevised    = "no device is allocated"
)

// Inert says what the objects of the kind would do in a cluster and do not here; ""
// where they do it.
func (k *Kind) Inert() string { return inert[k.Resource] }

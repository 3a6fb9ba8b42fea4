package registry

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	flowcontroldefaults "k8s.io/kubernetes/pkg/apis/flowcontrol/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Nothing here is queued: requests are executed one at a time.

var flowSchemas = goType[flowcontrolv1.FlowSchema, flowcontrolv1.FlowSchemaList](&Kind{
	GVK: flowcontrolv1.SchemeGroupVersion.WithKind("FlowSchema"), Resource: "flowschemas", Singular: "flowschema",
	Status: true, Default: On(flowcontroldefaults.SetObjectDefaults_FlowSchema),
	strategy: strategy{
		PrepareCreate: On(func(f *flowcontrolv1.FlowSchema) {
			f.Status, f.Generation = flowcontrolv1.FlowSchemaStatus{}, 1
		}),
		Create: validation.FlowSchema.Create,
		Main: Update{
			Prepare: both(Recount(func(f *flowcontrolv1.FlowSchema) any { return f.Spec }),
				Over(func(f, old *flowcontrolv1.FlowSchema) { f.Status = old.Status })),
			Judge: validation.FlowSchema.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(f, old *flowcontrolv1.FlowSchema) {
				f.Spec = old.Spec
				metadataStays(&f.ObjectMeta, &old.ObjectMeta)
			}),
			Judge: validation.FlowSchema.Status,
		},
		ResetByStatus: wholeMetadata,
	},
})

var priorityLevels = goType[flowcontrolv1.PriorityLevelConfiguration,
	flowcontrolv1.PriorityLevelConfigurationList](&Kind{
	GVK:      flowcontrolv1.SchemeGroupVersion.WithKind("PriorityLevelConfiguration"),
	Resource: "prioritylevelconfigurations", Singular: "prioritylevelconfiguration",
	Status: true, Default: On(flowcontroldefaults.SetObjectDefaults_PriorityLevelConfiguration),
	strategy: strategy{
		PrepareCreate: On(func(l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Status, l.Generation = flowcontrolv1.PriorityLevelConfigurationStatus{}, 1
		}),
		Create: validation.PriorityLevelConfiguration.Create,
		Main: Update{
			Prepare: both(Recount(func(l *flowcontrolv1.PriorityLevelConfiguration) any { return l.Spec }),
				Over(func(l, old *flowcontrolv1.PriorityLevelConfiguration) { l.Status = old.Status })),
			Judge: validation.PriorityLevelConfiguration.Update,
		},
		ForStatus: Update{
			Prepare: Over(func(l, old *flowcontrolv1.PriorityLevelConfiguration) {
				l.Spec = old.Spec
				metadataStays(&l.ObjectMeta, &old.ObjectMeta)
			}),
			Judge: validation.PriorityLevelConfiguration.Status,
		},
		ResetByStatus: wholeMetadata,
	},
})

// metadataStays takes back what a status write says of metadata, but for who manages what.
func metadataStays(m, old *metav1.ObjectMeta) {
	managed := m.ManagedFields
	*m = *old
	m.ManagedFields = managed
}

package registry

import (
	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/threelaws/threelaws/fakeapi/internal/validation"
)

// Nothing here is queued: requests are executed one at a time.

var flowSchemas = goType[flowcontrolv1.FlowSchema, flowcontrolv1.FlowSchemaList](&Kind{
	GVK: flowcontrolv1.SchemeGroupVersion.WithKind("FlowSchema"), Resource: "flowschemas", Singular: "flowschema",
	Status: true, Default: On(func(f *flowcontrolv1.FlowSchema) {
		if f.Spec.MatchingPrecedence == 0 {
			f.Spec.MatchingPrecedence = 1000
		}
	}),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(f *flowcontrolv1.FlowSchema) {
			f.Status, f.Generation = flowcontrolv1.FlowSchemaStatus{}, 1
		}),
		ValidateCreate: Check(validation.FlowSchema),
		Main: Update{
			Prepare: both(Recount(func(f *flowcontrolv1.FlowSchema) any { return f.Spec }),
				Over(func(f, old *flowcontrolv1.FlowSchema) { f.Status = old.Status })),
			Validate: again(validation.FlowSchema), again: checks{onCreate},
		},
		ForStatus: Update{
			Prepare: Over(func(f, old *flowcontrolv1.FlowSchema) {
				f.Spec = old.Spec
				metadataStays(&f.ObjectMeta, &old.ObjectMeta)
			}),
			Validate: Compare(validation.FlowSchemaStatus),
		},
		ResetByStatus: wholeMetadata,
	},
})

var priorityLevels = goType[flowcontrolv1.PriorityLevelConfiguration,
	flowcontrolv1.PriorityLevelConfigurationList](&Kind{
	GVK:      flowcontrolv1.SchemeGroupVersion.WithKind("PriorityLevelConfiguration"),
	Resource: "prioritylevelconfigurations", Singular: "prioritylevelconfiguration",
	Status: true, Default: On(defaultPriorityLevel),
	strategy: strategy{
		NameRule: apivalidation.NameIsDNSSubdomain,
		PrepareCreate: On(func(l *flowcontrolv1.PriorityLevelConfiguration) {
			l.Status, l.Generation = flowcontrolv1.PriorityLevelConfigurationStatus{}, 1
		}),
		ValidateCreate: Check(validation.PriorityLevel),
		Main: Update{
			Prepare: both(Recount(func(l *flowcontrolv1.PriorityLevelConfiguration) any { return l.Spec }),
				Over(func(l, old *flowcontrolv1.PriorityLevelConfiguration) { l.Status = old.Status })),
			Validate: again(validation.PriorityLevel), again: checks{onCreate},
		},
		ForStatus: Update{
			Prepare: Over(func(l, old *flowcontrolv1.PriorityLevelConfiguration) {
				l.Spec = old.Spec
				metadataStays(&l.ObjectMeta, &old.ObjectMeta)
			}),
			Validate: Compare(validation.PriorityLevelStatus),
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

func defaultPriorityLevel(l *flowcontrolv1.PriorityLevelConfiguration) {
	if e := l.Spec.Exempt; e != nil {
		orDefault(&e.NominalConcurrencyShares, 0)
		orDefault(&e.LendablePercent, 0)
	}
	p := l.Spec.Limited
	if p == nil {
		return
	}
	orDefault(&p.NominalConcurrencyShares, 30)
	orDefault(&p.LendablePercent, 0)
	if q := p.LimitResponse.Queuing; q != nil {
		orCount(&q.HandSize, 8)
		orCount(&q.Queues, 64)
		orCount(&q.QueueLengthLimit, 50)
	}
}

func orCount(p *int32, value int32) {
	if *p == 0 {
		*p = value
	}
}

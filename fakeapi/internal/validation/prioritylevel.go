package validation

import (
	"fmt"
	"math"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const keptZero = "flowcontrol.k8s.io/preserve-zero-concurrency-shares"

// PriorityLevel checks shares, queues and the type. That the two levels which the server makes for
// itself are as it makes them is not checked: nothing is made here.
func PriorityLevel(l *flowcontrolv1.PriorityLevelConfiguration) (errs field.ErrorList) {
	if _, ok := l.Annotations[keptZero]; ok {
		errs = append(errs, field.Forbidden(field.NewPath("metadata").Child("annotations"),
			fmt.Sprintf("annotation '%s' is forbidden", keptZero)))
	}
	s := &l.Spec
	exempt, limited, kind := specPath.Child("exempt"), specPath.Child("limited"), specPath.Child("type")
	if (l.Name == "exempt") != (s.Type == flowcontrolv1.PriorityLevelEnablementExempt) {
		errs = append(errs, field.Invalid(kind, s.Type, "must be 'Exempt' if and only if `name` is 'exempt'"))
	}
	switch s.Type {
	case flowcontrolv1.PriorityLevelEnablementExempt:
		if s.Limited != nil {
			errs = append(errs, field.Forbidden(limited, "must be nil if the type is not Limited"))
		}
		if e := s.Exempt; e != nil {
			errs = append(errs, validateShares(e.NominalConcurrencyShares, exempt)...)
			errs = append(errs, validateLendable(e.LendablePercent, exempt)...)
		}
	case flowcontrolv1.PriorityLevelEnablementLimited:
		if s.Exempt != nil {
			errs = append(errs, field.Forbidden(exempt, "must be nil if the type is Limited"))
		}
		if s.Limited == nil {
			errs = append(errs, field.Required(limited, "must not be empty when type is Limited"))
			break
		}
		errs = append(errs, validateLimited(s.Limited, limited)...)
	default:
		errs = append(errs, amongSome(s.Type, kind, flowcontrolv1.PriorityLevelEnablementExempt,
			flowcontrolv1.PriorityLevelEnablementLimited)...)
	}
	return append(errs, PriorityLevelStatus(l, l)...)
}

// PriorityLevelStatus checks that there is one condition of each type.
func PriorityLevelStatus(l, _ *flowcontrolv1.PriorityLevelConfiguration) field.ErrorList {
	types := make([]string, len(l.Status.Conditions))
	for i, c := range l.Status.Conditions {
		types[i] = string(c.Type)
	}
	return conditionTypes(types)
}

func validateShares(n *int32, path *field.Path) field.ErrorList {
	if n == nil || *n >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("nominalConcurrencyShares"), *n, "must be a non-negative integer")}
}

func validateLendable(n *int32, path *field.Path) field.ErrorList {
	if n == nil || *n >= 0 && *n <= 100 {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Child("lendablePercent"), *n, "must be between 0 and 100, inclusive")}
}

func validateLimited(p *flowcontrolv1.LimitedPriorityLevelConfiguration, path *field.Path) field.ErrorList {
	errs := validateShares(p.NominalConcurrencyShares, path)
	at := path.Child("limitResponse")
	switch r := &p.LimitResponse; {
	case r.Type == flowcontrolv1.LimitResponseTypeReject:
		if r.Queuing != nil {
			errs = append(errs, field.Forbidden(at.Child("queuing"),
				"must be nil if limited.limitResponse.type is not Limited"))
		}
	case r.Type != flowcontrolv1.LimitResponseTypeQueue:
		errs = append(errs, amongSome(r.Type, at.Child("type"), flowcontrolv1.LimitResponseTypeQueue,
			flowcontrolv1.LimitResponseTypeReject)...)
	case r.Queuing == nil:
		errs = append(errs, field.Required(at.Child("queuing"),
			"must not be empty if limited.limitResponse.type is Limited"))
	default:
		errs = append(errs, validateQueuing(r.Queuing, at.Child("queuing"))...)
	}
	errs = append(errs, validateLendable(p.LendablePercent, path)...)
	if n := p.BorrowingLimitPercent; n != nil && *n < 0 {
		errs = append(errs, field.Invalid(path.Child("borrowingLimitPercent"), *n,
			"if specified, must be a non-negative integer"))
	}
	return errs
}

func validateQueuing(q *flowcontrolv1.QueuingConfiguration, path *field.Path) (errs field.ErrorList) {
	const most = 10 * 1000 * 1000
	if q.QueueLengthLimit <= 0 {
		errs = append(errs, field.Invalid(path.Child("queueLengthLimit"), q.QueueLengthLimit, "must be positive"))
	}
	if q.Queues <= 0 {
		errs = append(errs, field.Invalid(path.Child("queues"), q.Queues, "must be positive"))
	} else if q.Queues > most {
		errs = append(errs, field.Invalid(path.Child("queues"), q.Queues,
			fmt.Sprintf("must not be greater than %d", most)))
	}
	hand := path.Child("handSize")
	if q.HandSize <= 0 {
		return append(errs, field.Invalid(hand, q.HandSize, "must be positive"))
	}
	if q.HandSize > q.Queues {
		return append(errs, field.Invalid(hand, q.HandSize,
			fmt.Sprintf("should not be greater than queues (%d)", q.Queues)))
	}
	// A hand is dealt by the bits of one hash.
	const bits = 60
	if math.Ceil(math.Log2(float64(q.Queues))*float64(q.HandSize)) > bits {
		errs = append(errs, field.Invalid(hand, q.HandSize, fmt.Sprintf("required entropy bits of deckSize %d and "+
			"handSize %d should not be greater than %d", q.Queues, q.HandSize, bits)))
	}
	return errs
}

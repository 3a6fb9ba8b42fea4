// Package ref holds what every controller that owns objects has in common:
// deciding what to do with an object ([Decide]), and doing it: adopt, release
// ([Manager]). The rules are those of the ControllerRef proposal, "Behavior",
// with what Kubernetes 1.36 added to them.
//
// One Manager serves one sync of one controller object. It is made again in the
// next sync, because the answer of its live check holds for one sync only:
//
//	m := &ref.Manager{Client: env.Client, Owner: set, Kind: kind, Dependent: podKind, Without: &ref.Without{}}
//	own, err := ref.Claim(ctx, m, candidates, selects)
//
// [Without] stays zero in a controller that keeps the rules. What a claim decides of
// one object is [Decide], whose example runs; controllers/internal/replicas claims so.
package ref

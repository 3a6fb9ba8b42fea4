// Package trial holds one run of a world to its end under the laws: the world,
// the API server and the cluster in it, the judge, the detector of fights, and
// what the user does. Scenario files, property tests, benchmarks, exploration
// and serve all run through a [Trial], so that none of them can ask half of the
// laws.
//
//	t := trial.New(trial.Options{})
//	defer t.Stop()
//	t.Start("widget", controller)
//	err := t.Request("create", &fakeapi.Request{...})
//	if how := t.Settle(trial.Limits{}); !how.Settled { ... }
//	if b := t.Broken(); b != nil { ... }
//
// [Trial.Start] tells the laws what a process runs. [Trial.Settle] steps until
// the world is at rest, looks for fights as it goes, and then has the laws on
// worlds at rest asked; a world that does not come to rest breaks a law of its
// own. What the user does at once is [Trial.Do]; what is to race with the
// controllers is [Trial.Later].
package trial

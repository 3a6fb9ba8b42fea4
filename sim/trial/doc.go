// Package trial runs a world once, to its end, under the laws.
//
// A world is an API server, a cluster of controllers, a user, and one source of
// choices. A [Trial] holds all of it together with the judge and the detector of
// fights, and is the only thing in this module that steps a world: scenario files,
// simtest, benchmarks, exploration and serve all run through it, so that none of
// them can ask half of the laws.
//
// # Five names to know
//
//   - [New] makes a trial of some [Options]: the laws, the choices, the server's
//     first state. The zero value is an empty cluster, the default schedule and
//     every law.
//   - [Trial.Start] runs a [host.Controller] as a process, and tells the laws what
//     it owes them.
//   - [Trial.Request] is what the user does at once; [Trial.Later] is what he does
//     in a race with the controllers.
//   - [Trial.Settle] steps until the world is at rest, looks for fights as it goes,
//     and has the laws on worlds at rest asked. A world that does not come to rest
//     breaks a law of its own.
//   - [Trial.Broken] is the breach that fails the run, nil for none.
//
// # One run
//
//	t := trial.New(trial.Options{})
//	defer t.Stop()
//	t.Start("keeper", keeper)
//	t.Request(&fakeapi.Request{Verb: fakeapi.Create, ...})
//	if how := t.Settle(trial.Limits{}); !how.Settled {
//		fmt.Println("did not come to rest after", how.Steps, "steps")
//	}
//	if b := t.Broken(); b != nil {
//		fmt.Println(b.Law.Name, b.Text)
//	}
//
// The package's example is this one, whole.
//
// # Where to go next
//
// One run is one schedule. To try many, say the world once as a simtest.Case and
// call simtest.Check (package scenarios/simtest), or write it as a scenario file
// (package scenarios). What a controller is, package sim/host says; what a law is,
// package sim/law.
package trial

// Package trial runs a world once, to its end, under the laws.
//
// A world is an API server, a cluster of controllers, a user, and one source of choices. A [Trial] holds a world, the
// judge that evaluates the laws, and the fight detector. Scenario files, simtest, benchmarks, exploration and serve
// all run their worlds with trials. Therefore they all apply all laws.
//
// # Five names to know
//
//   - [New] makes a trial from [Options]: the laws, the choices, the server's first state. The zero value is
//     an empty cluster, the default schedule and every law.
//   - [Trial.Start] runs a [host.Controller] as a process under the laws.
//   - [Trial.Request] is a request of the user, executed at once. [Trial.Later] lets the user race with the
//     controllers.
//   - [Trial.Settle] steps until the world has settled, and looks for fights meanwhile. Then the laws about
//     settled worlds are evaluated. A world that does not settle violates a law of its own.
//   - [Trial.Broken] is the violation that fails the run, nil for none.
//
// # One run
//
//	t := trial.New(trial.Options{})
//	defer t.Stop()
//	t.Start("keeper", keeper)
//	t.Request(&fakeapi.Request{Verb: fakeapi.Create, ...})
//	if how := t.Settle(trial.Limits{}); !how.Settled {
//		fmt.Println("not settled after", how.Steps, "steps")
//	}
//	if b := t.Broken(); b != nil {
//		fmt.Println(b.Law.Name, b.Text)
//	}
//
// The package's example is the complete program.
//
// # Where to go next
//
// One run is one schedule. To try many, write the world as a simtest.Case and call simtest.Check (package
// scenarios/simtest), or write it as a scenario file (package scenarios). Package sim/host defines controllers, and
// package sim/law defines laws.
package trial

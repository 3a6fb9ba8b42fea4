package law

// Profile says which laws a controller owes. Each holds the one before.
type Profile uint8

// The profiles.
const (
	Ownership Profile = iota // what any controller owes the others
	Writing                  // and the guidelines of Writing Controllers
	Upstream                 // and how kube-controller-manager's own controllers are written

	profiles = 3
)

var profileNames = [profiles]string{"ownership", "writing", "upstream"}

// String names the profile.
func (p Profile) String() string { return profileNames[p] }

// Profiles are the names of the profiles, the smallest first.
func Profiles() []string { return profileNames[:] }

// binds reports whether the law whose check is running is owed by a subject.
func (j *Judge) binds(s *Subject) bool { return j.seats[j.sitting].law.Profile <= s.Profile }

// heldTo is the profile of whoever a record is about. A record that is no
// subject's, as those of a world at rest are, is shown to every law: each asks for
// the subjects it finds there.
func (p *Process) heldTo() Profile {
	if p == nil {
		return Upstream
	}
	return p.Subject.Profile
}

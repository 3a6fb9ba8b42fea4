package scenarios

// Bodies returns the sections of the file by name.
func (f *File) Bodies() map[string]string {
	all := map[string]string{}
	for _, s := range f.sections {
		all[s.name] = s.body
	}
	return all
}

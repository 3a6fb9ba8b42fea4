package scenarios

// Bodies are the sections of the file by their names.
func (f *File) Bodies() map[string]string {
	all := map[string]string{}
	for _, s := range f.sections {
		all[s.name] = s.body
	}
	return all
}

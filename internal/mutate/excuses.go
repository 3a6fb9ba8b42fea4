package mutate

// Excuses are the mutants of this module that may survive, by file.
var Excuses = []Excuse{
	{"controllers/ref/patch.go", "adoptPatch", "drop buf = slices.Grow(buf, adoptSize)", Performance,
		"append grows the buffer by itself, in more steps"},
	{"controllers/ref/patch.go", "appendString", "equal c < 0x20", Equivalent,
		"a space is quoted by the encoder, as itself"},
	{"controllers/ref/patch.go", "appendString", "equal c >= 0x7f", Equivalent,
		"DEL is quoted by the encoder, as itself"},
}

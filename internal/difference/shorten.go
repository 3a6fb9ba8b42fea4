package difference

// A value is shown up to longest columns; of two long ones that begin alike,
// the part that differs, with lead columns in front of it.
const (
	longest = 40
	lead    = 8
)

// Shorten cuts two different values so that they still differ.
func Shorten(a, b string) (string, string) {
	x, y := []rune(a), []rune(b)
	if len(x) <= longest && len(y) <= longest {
		return a, b
	}
	same := 0
	for same < min(len(x), len(y)) && x[same] == y[same] {
		same++
	}
	from := 0
	if same > longest/2 {
		from = same - lead
	}
	return window(x, from), window(y, from)
}

func window(text []rune, from int) string {
	head := ""
	if from > 0 {
		head = "..."
	}
	if text = text[from:]; len(text) > longest {
		return head + string(text[:longest]) + "..."
	}
	return head + string(text)
}

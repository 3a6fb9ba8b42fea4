package explore

// Bytes makes choices from the bytes of a fuzzer. A choice of up to 256 alternatives takes one byte. After the last
// byte, every choice is 0. A choice with only one alternative takes no byte, so every byte affects the run.
type Bytes struct {
	Data []byte
	pos  int
}

// Pick returns the next byte modulo n, or the next two bytes if n exceeds 256. After the last byte it returns 0.
func (b *Bytes) Pick(n int, _ string) int {
	if n <= 1 || b.pos >= len(b.Data) {
		return 0
	}
	v := int(b.Data[b.pos])
	b.pos++
	if n > 256 && b.pos < len(b.Data) {
		v = v<<8 | int(b.Data[b.pos])
		b.pos++
	}
	return v % n
}

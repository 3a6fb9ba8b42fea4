package explore

// Bytes reads a fuzzer's bytes, one for each choice of up to 256 alternatives, then picks 0. Choices without
// an alternative consume nothing, so every byte matters to the fuzzer.
type Bytes struct {
	Data []byte
	pos  int
}

// Pick returns the next byte modulo n.
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

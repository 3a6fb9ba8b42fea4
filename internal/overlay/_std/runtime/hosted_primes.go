package runtime

// hostedPrimes contains the last two bytes of each prime: first for RSA keys with 2048 bits, then with 4096 bits.
// hostedPrime computes the other bytes from the prime's index.
var hostedPrimes = [2][32]uint16{
	{345, 883, 805, 1109, 939, 305, 203, 159, 461, 583, 421, 49, 313, 81, 505, 1647, 213, 1527, 13, 535, 1253, 3191, 131,
		677, 305, 341, 145, 175, 1105, 1875, 493, 321},
	{123, 375, 855, 931, 163, 663, 3063, 543, 515, 1019, 357, 1223, 935, 795, 837, 1269, 1387, 871, 3789, 403, 3675, 417,
		839, 3759, 157, 2691, 2427, 1289, 505, 2141, 1507, 99},
}

// hostedPrime fills b with a prime and returns true, if b has the length of a prime of an RSA key. Without this
// function, a program that generates certificates would spend most of its time searching primes.
//
// It returns a prime only at every eighth read of this length, otherwise false. After each prime, the primality test
// reads random numbers for its five bases, which must be less than the prime. A bubble gets each prime once, so that a
// key has two different primes.
func hostedPrime(b []byte) bool {
	bubble := getg().bubble
	if bubble == nil || len(b) != 128 && len(b) != 256 {
		return false
	}
	ends := &hostedPrimes[len(b)/256]
	n := uint64(len(ends))
	read := bubble.primes
	bubble.primes++
	if read%8 != 0 || read/8 >= n {
		return false
	}
	i := (bubble.order%n + read/8) % n
	drawn := i
	for at := range b {
		if at%8 == 0 {
			drawn += 0x9e3779b97f4a7c15
		}
		b[at] = byte(hostedMix(drawn) >> (at % 8 * 8))
	}
	b[0] |= 0xc0
	b[len(b)-2], b[len(b)-1] = byte(ends[i]>>8), byte(ends[i])
	return true
}

package campaign

import (
	"math"
	"strconv"
)

// Often is the number of schedules in which something happened, and the number of all schedules.
type Often struct {
	Failed int `json:"failed"`
	Of     int `json:"of"`
}

// Interval returns the 95 % Wilson score interval of the frequency.
func (o Often) Interval() (low, high float64) {
	const z = 1.959964
	if o.Of == 0 {
		return 0, 1
	}
	n, p := float64(o.Of), float64(o.Failed)/float64(o.Of)
	middle := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (middle-half)/(1+z*z/n)), min(1, (middle+half)/(1+z*z/n))
}

// String formats the numbers: "3 of 1000 schedules, 0.3 % (95 % interval: 0.1 to 0.88 %)".
func (o Often) String() string {
	low, high := o.Interval()
	return strconv.Itoa(o.Failed) + " of " + strconv.Itoa(o.Of) + " schedules, " + percent(float64(o.Failed)/float64(max(o.Of, 1))) +
		" % (95 % interval: " + percent(low) + " to " + percent(high) + " %)"
}

// percent formats a share (from 0 to 1) as a percentage, with up to two significant digits.
func percent(p float64) string {
	p *= 100
	digits := 0
	for x := p; x > 0 && x < 10 && digits < 6; x *= 10 {
		digits++
	}
	text := strconv.FormatFloat(p, 'f', digits, 64)
	for digits > 0 && (text[len(text)-1] == '0' || text[len(text)-1] == '.') {
		if text[len(text)-1] == '.' {
			digits = 0
		}
		text = text[:len(text)-1]
	}
	return text
}

// Command check serves the checks of package toy.
package main

import (
	"fmt"

	"github.com/threelaws/threelaws/lab/mutate/switches"
	"github.com/threelaws/threelaws/lab/mutate/testdata/toy"
)

func main() {
	switches.Serve([]switches.Check{
		{Name: "half", Run: func() error {
			if n, err := toy.Half(4); n != 2 || err != nil {
				return fmt.Errorf("half of 4 is %d, %v", n, err)
			}
			return nil
		}},
		{Name: "small", Run: func() error {
			if !toy.Small(9, toy.Without{}) || toy.Small(10, toy.Without{}) {
				return fmt.Errorf("9 is not small, or 10 is")
			}
			return nil
		}},
		{Name: "odd", Run: func() error {
			if toy.Odd(4) || !toy.Odd(12) || !toy.Odd(5) {
				return fmt.Errorf("4 is odd, or 12 and 5 are not")
			}
			return nil
		}},
		{Name: "sum", Run: func() error {
			if n, err := toy.Sum(2, 30, 4); n != 4 || err != nil {
				return fmt.Errorf("the sum is %d, %v", n, err)
			}
			if _, err := toy.Sum(3); err == nil {
				return fmt.Errorf("3 is even")
			}
			return nil
		}},
	})
}

// Package fault holds which requests and watches of a server's clients go wrong, and how: what
// "threelaws serve" does to programs that it does not run itself, by the clock on the wall.
//
// A fault is asked for by a line, in the words of scenario files ([Grammar]). A [List] holds
// those that were asked for: whoever serves shows it each request before it is executed
// ([List.Strike]), and each watch for as long as it is open ([List.Open]). The list says what
// goes wrong; to do it is left to who serves, as the list knows neither connections nor time.
package fault

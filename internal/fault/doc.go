// Package fault decides which requests and watches of a server's clients go wrong, and how. "threelaws serve" uses it
// in real time for programs that it does not run itself.
//
// A line in the words of scenario files requests a fault ([Grammar]). A [List] holds these faults. The server passes it
// each request before execution ([List.Strike]), and each watch while it is open ([List.Open]). The list decides what
// goes wrong; the server carries it out, because the list knows neither connections nor time.
package fault

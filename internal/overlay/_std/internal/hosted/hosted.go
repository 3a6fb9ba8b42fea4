// Package hosted says whether a world hosts this process. The runtime sets On before packages are initialized.
package hosted

// On reports whether a world hosts this process.
var On bool

// Output, if not nil, is called with the bytes that the program writes to stdout and stderr.
var Output func(b []byte)

// Service and Address are the full name and the address of the API server's Service, as in fakeapi.
const (
	Service = "kubernetes.default.svc.cluster.local."
	Address = "10.96.0.1"
)

// IsService reports whether a host name is one of the API server's Service.
func IsService(host string) bool {
	switch host {
	case "kubernetes", "kubernetes.default", "kubernetes.default.svc", Service, Service[:len(Service)-1]:
		return true
	}
	return false
}

// IsAPI reports whether requests for a host, with or without the port 443, are for the API server.
func IsAPI(host string) bool {
	const port = ":443"
	if n := len(host) - len(port); n > 0 && host[n:] == port {
		host = host[:n]
	}
	return host == "apiserver" || host == Address || IsService(host)
}

package agent

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"time"
)

// authorityKey is the key of the CA of every world. It protects nothing: no request leaves the process.
var authorityKey = ed25519.NewKeyFromSeed([]byte("threelaws: a world's own CA key."))

// validFrom and validTo hold in every world, whose time begins in 2017.
var (
	validFrom = time.Date(2016, time.January, 1, 0, 0, 0, 0, time.UTC)
	validTo   = time.Date(2116, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// Authority is the certificate, in PEM, of the CA that signs the certificates of API server and webhooks.
var Authority = func() string {
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "threelaws"}, NotBefore: validFrom,
		NotAfter: validTo, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature}
	return sign(c, c, authorityKey)
}()

// Certificate returns a certificate for host names, signed by [Authority], and its key, in PEM. The same names
// give the same certificate.
func Certificate(names ...string) (certificate, key string) {
	seed := make([]byte, ed25519.SeedSize)
	copy(seed, names[0])
	private := ed25519.NewKeyFromSeed(seed)
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: names[0]}, NotBefore: validFrom,
		NotAfter: validTo, DNSNames: names, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	block, _ := pem.Decode([]byte(Authority))
	authority, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		panic("agent: the CA's certificate does not parse: " + err.Error())
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		panic("agent: " + err.Error())
	}
	return sign(c, authority, private), string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

// sign signs a certificate for a key. Signatures of Ed25519 draw nothing.
func sign(c, authority *x509.Certificate, key ed25519.PrivateKey) string {
	der, err := x509.CreateCertificate(rand.Reader, c, authority, key.Public(), authorityKey)
	if err != nil {
		panic("agent: a certificate cannot be made: " + err.Error())
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

package agent

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"threelaws/wire"
)

// webhook calls a webhook of the program through the program's listener. The response is sent when the webhook answers.
func (a *agent) webhook(m wire.Message) {
	id, port := m.TakeNum(), m.TakeNum()
	name, bundle := m.TakeText(), m.TakeBytes()
	method, url := m.TakeText(), m.TakeText()
	head, body := m.TakeHeader(), m.TakeBytes()
	go func() {
		resp, text, err := post(port, name, bundle, method, url, head, body)
		var m wire.Message
		m.Num(wire.Answer)
		m.Num(id)
		if err != nil {
			m.Text(err.Error())
		} else {
			m.Text("")
			m.Num(int64(resp.StatusCode))
			m.Header(resp.Header)
			m.Bytes(text)
		}
		a.mu.Lock()
		a.write(m)
		a.mu.Unlock()
	}()
}

func post(port int64, name string, bundle []byte, method, url string, head http.Header, body []byte) (*http.Response, []byte, error) {
	transport := &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", strconv.FormatInt(port, 10)))
	}}
	if name != "" {
		transport.TLSClientConfig = &tls.Config{ServerName: name, MinVersion: tls.VersionTLS12}
		if len(bytes.TrimSpace(bundle)) > 0 {
			roots := x509.NewCertPool()
			if !roots.AppendCertsFromPEM(bundle) {
				return nil, nil, errors.New("unable to load root certificates: unable to parse bytes as PEM block")
			}
			transport.TLSClientConfig.RootCAs = roots
		}
	}
	r, err := http.NewRequest(method, url, bytes.NewReader(body))
	if err != nil {
		return nil, nil, err
	}
	r.Header = head
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return resp, text, err
}

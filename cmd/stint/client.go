package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const defaultServer = "127.0.0.1:8080"

// client asks one daemon.
type client struct{ base string }

// newClient accepts host:port or an http URL.
func newClient(server string) (client, error) {
	addr, err := hostPort(server)
	if err != nil {
		return client{}, err
	}
	return client{"http://" + addr}, nil
}

// hostPort is the host:port of a --server; without a host it is this machine.
func hostPort(server string) (string, error) {
	u, err := url.Parse("http://" + strings.TrimPrefix(server, "http://"))
	if err != nil || u.Port() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		return "", flagError("server", fmt.Errorf("%q: give host:port, such as %s", server, defaultServer))
	}
	if u.Hostname() == "" {
		return net.JoinHostPort("127.0.0.1", u.Port()), nil
	}
	return u.Host, nil
}

// answer is what a daemon said.
type answer struct {
	status int
	body   []byte
}

// call makes one request. An answer with an error in it, or of a status other than those
// wanted, is an error.
func (c client) call(ctx context.Context, method, path string, body any, want ...int) (*answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, in)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("no answer from a stint server, see --server: %w", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", c.base, err)
	}
	for _, status := range want {
		if resp.StatusCode == status {
			return &answer{status, text}, nil
		}
	}
	var said struct{ Error string }
	if json.Unmarshal(text, &said) == nil && said.Error != "" {
		return nil, fmt.Errorf("%s: %s", c.base, said.Error)
	}
	return nil, fmt.Errorf("%s: %s: is that a stint server? See --server", c.base, resp.Status)
}

// into reads the body.
func (a *answer) into(v any) error {
	if err := json.Unmarshal(a.body, v); err != nil {
		return fmt.Errorf("the answer is not what a stint server says: %w", err)
	}
	return nil
}

// asking are the flags of the verbs that ask a server.
type asking struct {
	server string
	json   bool
}

func (a *asking) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.server, "server", defaultServer, "address of a daemon, `HOST:PORT`")
	cmd.Flags().BoolVar(&a.json, "json", false, "print the answer as JSON")
}

// keyed are the flags that name a key.
type keyed struct{ limit, key string }

func (k *keyed) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.limit, "limit", "", "`NAME` of the limit (required)")
	cmd.Flags().StringVar(&k.key, "key", "", "the `KEY`: a user, an address, a route (required; may be empty)")
	cmd.MarkFlagRequired("limit")
	cmd.MarkFlagRequired("key")
}

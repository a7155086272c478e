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

// answerWait is how long a daemon may take to answer, beside what it is asked to wait.
const answerWait = 10 * time.Second

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

// asking is a verb that asks a server: its flags, and how long the server may wait.
type asking struct {
	server string
	json   bool
	wait   time.Duration
}

func (a *asking) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.server, "server", defaultServer, "address of a daemon, `HOST:PORT`")
	cmd.Flags().BoolVar(&a.json, "json", false, "print the answer as JSON")
}

// ask makes one request and prints the answer: as JSON, or by say, once it is read into
// into. It is errNo if the answer is a refusal. An answer with an error in it, or of any
// other status, is an error.
func (a *asking) ask(cmd *cobra.Command, method, path string, body, into any, say func(out io.Writer) error) error {
	status, text, err := a.fetch(cmd.Context(), method, path, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("the answer is not what a stint server says: %w", err)
	}
	if a.json {
		_, err = cmd.OutOrStdout().Write(text)
	} else {
		err = say(cmd.OutOrStdout())
	}
	if err == nil && status == http.StatusTooManyRequests {
		return errNo
	}
	return err
}

// get is ask for a verb that only looks, post for the others.
func (a *asking) get(cmd *cobra.Command, path string, into any, say func(out io.Writer) error) error {
	return a.ask(cmd, "GET", path, nil, into, say)
}

func (a *asking) post(cmd *cobra.Command, path string, body map[string]any, into any, say func(out io.Writer) error) error {
	return a.ask(cmd, "POST", path, body, into, say)
}

// fetch makes one request.
func (a *asking) fetch(ctx context.Context, method, path string, body any) (status int, answer []byte, err error) {
	addr, err := hostPort(a.server)
	if err != nil {
		return 0, nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, a.wait+answerWait)
	defer cancel()
	var in io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, nil, err
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+addr+path, in)
	if err != nil {
		return 0, nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, fmt.Errorf("no answer from a stint server, see --server: %w", err)
	}
	defer resp.Body.Close()
	answer, err = io.ReadAll(io.LimitReader(resp.Body, 16<<20))
	if err != nil {
		return 0, nil, fmt.Errorf("reading the answer of %s: %w", addr, err)
	}
	switch resp.StatusCode {
	case http.StatusOK, http.StatusTooManyRequests:
		return resp.StatusCode, answer, nil
	}
	var said struct{ Error string }
	if json.Unmarshal(answer, &said) == nil && said.Error != "" {
		return 0, nil, fmt.Errorf("http://%s: %s", addr, said.Error)
	}
	return 0, nil, fmt.Errorf("http://%s: %s: is that a stint server? See --server", addr, resp.Status)
}

// keyed are the flags that name a key.
type keyed struct{ limit, key string }

func (k *keyed) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&k.limit, "limit", "", "`NAME` of the limit (required)")
	cmd.Flags().StringVar(&k.key, "key", "", "the `KEY`: a user, an address, a route (required; may be empty)")
	cmd.MarkFlagRequired("limit")
	cmd.MarkFlagRequired("key")
}

// body is the request about the key.
func (k *keyed) body() map[string]any { return map[string]any{"limit": k.limit, "key": k.key} }

// with is the same and one thing more.
func (k *keyed) with(field string, value any) map[string]any {
	body := k.body()
	body[field] = value
	return body
}

package main

import "testing"

func TestHostPort(t *testing.T) {
	for _, tt := range []struct{ server, want string }{ // want "": an error
		{"127.0.0.1:8080", "127.0.0.1:8080"},
		{":8080", "127.0.0.1:8080"},
		{"http://node1:80", "node1:80"},
		{"http://node1:80/", "node1:80"},
		{"[::1]:8080", "[::1]:8080"},
		{"", ""},
		{"node1", ""},
		{"http://node1", ""},
		{"https://node1:443", ""},
		{"node1:80/v1", ""},
		{"node1:80?x=1", ""},
		{"node1:http", ""},
	} {
		got, err := hostPort(tt.server)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("hostPort(%q) = %q, %v, want %q", tt.server, got, err, tt.want)
		}
	}
}

func TestWhen(t *testing.T) {
	for _, tt := range []struct {
		seconds float64
		want    string
	}{
		{0, ""},
		{0.0000001, " 1ms"},
		{0.6, " 600ms"},
		{1.2341, " 1.235s"},
		{719.2, " 12m0s"},
		{3600, " 1h0m0s"},
		{9e9, " more than 30 years"},
	} {
		if got := when(" ", tt.seconds); got != tt.want {
			t.Errorf("when(%g) = %q, want %q", tt.seconds, got, tt.want)
		}
	}
}

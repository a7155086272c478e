package stint

import (
	"archive/zip"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Limits of equal zones are counted alike, which the table sees by the pointer.
func TestZone(t *testing.T) {
	for _, name := range []string{"Europe/Paris", "America/Argentina/Buenos_Aires", "Etc/GMT+12", "GB", "EST5EDT"} {
		got, err := zone(name)
		if err != nil || got.String() != name {
			t.Errorf("%s: got %v, %v", name, got, err)
		}
		if again, _ := zone(name); again != got {
			t.Errorf("%s: got another the second time", name)
		}
	}
	for _, name := range []string{"", "UTC"} {
		if got, err := zone(name); got != time.UTC || err != nil {
			t.Errorf("%q: got %v, %v, want UTC", name, got, err)
		}
	}
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	paris, err := zone("Europe/Paris")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := noon.In(paris).Hour(), 14; got != want {
		t.Errorf("got %d o'clock in Paris at noon of a summer's day, want %d", got, want)
	}
}

// What differs from machine to machine, or spells a name in another way, is no zone.
func TestZoneFaults(t *testing.T) {
	for name, want := range map[string]string{
		"Local":                         `"Local" differs from node to node`,
		"localtime":                     "is no time zone",
		"right/Europe/Paris":            "is no time zone", // counts leap seconds
		"posixrules":                    "is no time zone",
		"Europe//Paris":                 "is no time zone",
		"Europe/Paris/":                 "is no time zone",
		"Europe/../Asia/Tokyo":          "is no time zone",
		"/etc/passwd":                   "is no time zone",
		"Europe/Paris\n":                "is no time zone",
		"CET+1; DROP":                   "is no time zone",
		"Europe":                        "is unknown", // a folder
		"Mars/Olympus":                  "is unknown",
		"E" + strings.Repeat("u", 9999): "(10000 bytes) is no time zone",
	} {
		got, err := zone(name)
		if got != nil || err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "IANA") {
			t.Errorf("%.20q: got %v, %v, want an error that says %q", name, got, err, want)
		}
	}
}

// The database that Go brings has no name that zone would refuse.
func TestZoneTakesEveryName(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	database, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Skip(err) // Go as some systems package it
	}
	defer database.Close()
	names := 0
	for _, f := range database.File {
		if f.FileInfo().IsDir() {
			continue
		}
		names++
		if !zoneName.MatchString(f.Name) || len(f.Name) > maxZoneName {
			t.Errorf("%s would be refused", f.Name)
		}
	}
	if names < 400 || names >= maxZones {
		t.Errorf("got %d names, want 400 to %d", names, maxZones)
	}
}

func TestZonesAreBounded(t *testing.T) {
	defer func(kept map[string]*time.Location) { zones.byName = kept }(zones.byName)
	zones.byName = map[string]*time.Location{}
	for i := range maxZones {
		if _, err := keepZone(time.FixedZone(fmt.Sprint(i), 0)); err != nil {
			t.Fatal(err)
		}
	}
	want := zones.byName["7"]
	if got, err := keepZone(time.FixedZone("7", 0)); got != want || err != nil {
		t.Errorf("got %v, %v, want the one that was kept", got, err)
	}
	if got, err := zone("Europe/Paris"); err == nil || !strings.Contains(err.Error(), "use at most 1024") {
		t.Errorf("got %v, %v, want an error past the bound", got, err)
	}
}

package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
)

func keygenCommand() *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "keygen",
		Short: "Make a key file: the secrets that the nodes of a cluster share",
		Long: `Make a key file for serve --key-file, the same on every node. It has two secrets:

  key HEX    32 bytes, seals what nodes send each other; the first line seals, all
             open. To change it, take three steps, each on every node before the
             next: add the new line last, move it first, delete the old one; and
             after each kill -HUP the daemon, which then reads its file again
  seed HEX   16 bytes, of the hash that keys are stored under, so that nobody outside
             can choose keys that share an entry; never change it`,
		Example: `  stint keygen --out stint.keys
  stint keygen | ssh node1 'umask 077; cat > stint.keys'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := newKeyFile()
			if out == "" {
				_, err := io.WriteString(cmd.OutOrStdout(), text)
				return err
			}
			return writeSecret(out, text)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "write to this new `FILE`, for its owner only; default: print")
	return cmd
}

func newKeyFile() string {
	secret := make([]byte, keyBytes+seedBytes)
	rand.Read(secret) // never fails
	return fmt.Sprintf("# Key file of a stint cluster: secret, and the same on every node.\nkey %x\nseed %x\n",
		secret[:keyBytes], secret[keyBytes:])
}

// writeSecret never overwrites: the old keys may be the only ones that open something.
func writeSecret(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return flagError("out", fmt.Errorf("%s exists: name a new file, or remove that one first", name))
	}
	if err != nil {
		return flagError("out", err)
	}
	_, err = io.WriteString(f, text)
	return errors.Join(err, f.Close())
}

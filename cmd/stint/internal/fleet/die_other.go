//go:build unix && !linux

package fleet

import "syscall"

// dieWithUs is nothing where the system has nothing for it.
func dieWithUs() *syscall.SysProcAttr { return nil }

package fleet

import "syscall"

// dieWithUs has a process killed if this one ends first, as when a test times out.
func dieWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }

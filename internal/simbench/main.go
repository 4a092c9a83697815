package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"syscall"
	"time"

	"photon/units"
)

func cpu() time.Duration {
	var r syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

func main() {
	name := flag.String("case", "", "")
	each := flag.Bool("each", false, "")
	prof := flag.String("prof", "", "")
	until := flag.Duration("until", 0, "")
	huge := flag.Bool("huge", false, "")
	flag.Parse()
	if *huge {
		_, _, e := syscall.Syscall(syscall.SYS_MADVISE, 0xc000000000, 256<<20, 14)
		fmt.Fprintln(os.Stderr, e)
	}
	for i := range cases {
		if cases[i].name != *name {
			continue
		}
		if *prof != "" {
			f, _ := os.Create(*prof)
			_ = pprof.StartCPUProfile(f)
		}
		var begin, used time.Duration
		running := func(begins bool) {
			if begins {
				begin = cpu()
			} else {
				used = cpu() - begin
			}
		}
		all := cpu()
		out, err := cases[i].run(context.Background(), *each, units.Time(*until)*units.Nanosecond, running)
		pprof.StopCPUProfile()
		all = cpu() - all
		var r syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
		fmt.Println(err, out.Hash, out.DataHops, out.Events, used, r.Maxrss, float64(out.DataHops)/used.Seconds()/1e6, float64(used.Nanoseconds())/float64(out.Events), "wall", out.Wall, "all", all)
	}
}

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"
	"time"
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
	flag.Parse()
	for i := range cases {
		if cases[i].name != *name {
			continue
		}
		if *prof != "" {
			f, _ := os.Create(*prof)
			runtime.SetCPUProfileRate(2000); _ = pprof.StartCPUProfile(f)
		}
		begin := cpu()
		out, err := cases[i].run(context.Background(), *each)
		pprof.StopCPUProfile()
		used := cpu() - begin
		var r syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &r)
		fmt.Println(err, out.Hash, out.DataHops, out.Events, used, r.Maxrss, float64(out.DataHops)/used.Seconds()/1e6, float64(used.Nanoseconds())/float64(out.Events), "wall", out.Wall)
	}
}

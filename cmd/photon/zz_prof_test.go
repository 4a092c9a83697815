package main
import ("testing";"os";"strings";"runtime/pprof")
func TestProfZ(t *testing.T){
 f,_:=os.Create("/tmp/q/cpu.prof"); pprof.StartCPUProfile(f); defer pprof.StopCPUProfile()
 run(strings.Fields(os.Getenv("PARGS")))
}

# RED in byte mode with two Poisson streams of equal packet rates (500 B, 1500 B), at a load of 1.2.
# Usage: ns red_bytes.tcl WAIT MEAN SEED. The script prints a row of red_bytes.csv; README.md
# describes the settings.
lassign $argv wait mean seed
set awk {
    $2 >= 20 && $1 == "+" { arrived[$6]++ }
    $2 >= 20 && $1 == "d" { dropped[$6]++ }
    END { print wait "," mean "," seed "," arrived[500] "," dropped[500] "," arrived[1500] "," dropped[1500] }
}
set ns [new Simulator]
ns-random $seed
foreach {name value} [list bytes_ true queue_in_bytes_ true mean_pktsize_ $mean wait_ $wait thresh_ 5 maxthresh_ 105 \
        linterm_ 2 gentle_ false adaptive_ 0 q_weight_ 0.002 setbit_ false] {
    Queue/RED set $name $value
}
set a [$ns node]
set b [$ns node]
$ns simplex-link $a $b 10Mb 1ms RED
$ns queue-limit $a $b 10000
set trace [open [list | awk -v wait=$wait -v mean=$mean -v seed=$seed $awk >@ stdout] w]
$ns trace-queue $a $b $trace
foreach size {500 1500} {
    set udp [new Agent/UDP]
    $udp set packetSize_ 1500
    set sink [new Agent/Null]
    $ns attach-agent $a $udp
    $ns attach-agent $b $sink
    $ns connect $udp $sink
    set poisson [new Application/Traffic/Exponential]
    $poisson set packetSize_ $size
    $poisson set burst_time_ 0
    $poisson set rate_ 1000Gb
    $poisson set idle_time_ [expr {1 / 750.0}]
    $poisson attach-agent $udp
    $ns at 0 "$poisson start"
}
$ns at 520 "close $trace; exit 0"
$ns run

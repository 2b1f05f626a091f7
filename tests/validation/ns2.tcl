# Dumbbell of TCP and CBR flows in ns-2 for tests/validation/ns2.py. An argument is KEY=VALUE, with
# times in seconds and rates in bit/s. The script prints one line "NAME VALUE" per measure.
array set p {
    seed 1 rate 1.5e6 delay 0.02 access 10e6 queue DropTail limit 64 duration 60 warmup 10
    minth 5 maxth 15 maxp 0.1 wq 0.002 gentle 0 bytes 0 ecn 0 mean 1500 mark_p 0 wait 1 chance_by_size 1
    tcp TCP/Reno sack 0 delack 0 window 100 initial 2 segment 1460 tick 0.01 minrto 0.2 singledup 0
    bugfix 1 size 0 starts {} delays {} ecns {} cbr {}
}
foreach argument $argv {
    set cut [string first = $argument]
    set p([string range $argument 0 [expr {$cut - 1}]]) [string range $argument [expr {$cut + 1}] end]
}
proc flag {value} { expr {$value ? "true" : "false"} }

remove-all-packet-headers
add-packet-header IP TCP Flags RTP
ns-random $p(seed)
set ns [new Simulator]
$ns rtproto Manual

Agent/TCP set packetSize_ $p(segment)
Agent/TCP set window_ $p(window)
Agent/TCP set windowInit_ $p(initial)
Agent/TCP set tcpTick_ $p(tick)
Agent/TCP set minrto_ $p(minrto)
Agent/TCP set singledup_ $p(singledup)
Agent/TCP set bugFix_ [flag $p(bugfix)]
Agent/TCP set precisionReduce_ false
Agent/TCP set slow_start_restart_ false
Queue/RED set thresh_ $p(minth)
Queue/RED set maxthresh_ $p(maxth)
Queue/RED set linterm_ [expr {1.0 / $p(maxp)}]
Queue/RED set q_weight_ $p(wq)
Queue/RED set gentle_ [flag $p(gentle)]
Queue/RED set bytes_ [flag [expr {$p(bytes) && $p(chance_by_size)}]]
Queue/RED set queue_in_bytes_ [flag $p(bytes)]
Queue/RED set mean_pktsize_ $p(mean)
Queue/RED set idle_pktsize_ $p(mean)
Queue/RED set setbit_ [flag $p(ecn)]
Queue/RED set use_mark_p_ [flag [expr {$p(mark_p) > 0}]]
Queue/RED set mark_p_ $p(mark_p)
Queue/RED set wait_ [flag $p(wait)]
Queue/DropTail set queue_in_bytes_ [flag $p(bytes)]
Queue/DropTail set mean_pktsize_ $p(mean)

set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right $p(rate) $p(delay) $p(queue)
$ns simplex-link $right $left $p(rate) $p(delay) DropTail
$ns queue-limit $left $right $p(limit)
$ns queue-limit $right $left 100000
set monitor [$ns monitor-queue $left $right ""]
set waiting [$monitor get-pkts-integrator]
[$left get-module Manual] add-route-to-adj-node -default $right
[$right get-module Manual] add-route-to-adj-node -default $left

# Create a host with its own link to a router and with routes in both directions.
proc host {router delay} {
    global ns p
    set node [$ns node]
    $ns duplex-link $node $router $p(access) $delay DropTail
    $ns queue-limit $node $router 100000
    $ns queue-limit $router $node 100000
    [$node get-module Manual] add-route-to-adj-node -default $router
    [$router get-module Manual] add-route-to-adj-node $node
    return $node
}

set unfinished 0
set finish 0
proc finished {} {
    global ns unfinished finish
    set finish [$ns now]
    incr unfinished -1
    if {$unfinished == 0} { $ns halt }
}
set n [llength $p(starts)]
for {set i 0} {$i < $n} {incr i} {
    set source [host $left [lindex $p(delays) $i]]
    set sink [host $right 0.001]
    set tcp($i) [new Agent/$p(tcp)]
    $tcp($i) set ecn_ [lindex $p(ecns) $i]
    set receiver TCPSink
    if {$p(sack)} { append receiver /Sack1 }
    if {$p(delack)} { append receiver /DelAck }
    set at($i) [new Agent/$receiver]
    $ns attach-agent $source $tcp($i)
    $ns attach-agent $sink $at($i)
    $ns connect $tcp($i) $at($i)
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    if {$p(size) > 0} {
        incr unfinished
        $tcp($i) proc done {} { finished }
        $ns at [lindex $p(starts) $i] "$ftp send [expr {$p(size) * $p(segment)}]"
    } else {
        $ns at [lindex $p(starts) $i] "$ftp start"
    }
}
# The list cbr has one element {rate packet start delay} per CBR flow.
set j 0
foreach flow $p(cbr) {
    foreach {rate packet start delay} $flow {}
    set source [host $left $delay]
    set sink [host $right 0.001]
    set udp [new Agent/UDP]
    $udp set packetSize_ $packet
    set cbr($j) [new Application/Traffic/CBR]
    $cbr($j) set packetSize_ $packet
    $cbr($j) set rate_ $rate
    $cbr($j) set random_ 0
    set got($j) [new Agent/LossMonitor]
    $ns attach-agent $source $udp
    $ns attach-agent $sink $got($j)
    $ns connect $udp $got($j)
    $cbr($j) attach-agent $udp
    $ns at $start "$cbr($j) start"
    incr j
}

set before 0
set since 0
$ns at $p(warmup) { set before [$waiting set sum_]; set since [$ns now] }
# Return the cumulative counts of the flows and of the bottleneck.
proc counts {} {
    global n tcp monitor got j
    set acked 0; set retransmitted 0; set timeouts 0; set received 0
    for {set i 0} {$i < $n} {incr i} {
        incr acked [$tcp($i) set ack_]
        incr retransmitted [$tcp($i) set nrexmitpack_]
        incr timeouts [$tcp($i) set nrexmit_]
    }
    for {set i 0} {$i < $j} {incr i} { incr received [$got($i) set bytes_] }
    list $acked $retransmitted $timeouts [$monitor set pdrops_] [$monitor set pmarks_] $received
}
$ns at $p(duration) { $ns halt }
$ns run

set now [$ns now]
$waiting newpoint $now [$waiting set lasty_]
set total [counts]
foreach name {acked retransmitted timeouts drops marks cbr} value $total { puts "$name $value" }
if {$unfinished == 0 && $p(size) > 0} { puts "finish $finish" }
puts "queue [expr {([$waiting set sum_] - $before) / ($now - $since)}]"
exit 0

// Scenarios S1, S2 and S3 in htsim, with Drop Tail and htsim's TCP (NewReno).
// Usage: htsim_dumbbell sc=S2 [end=SECONDS]
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "eventlist.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

static const int PACKET = 1500;  // htsim's segments have no headers, so a segment has the size of a packet.
static const int MSS = 1460;     // payload that a packet represents

struct Scenario {
    int flows, sources;
    double rate, access;  // bit/s
    double delay;         // of the bottleneck, s
    int limit;            // packets
    double end;           // s
    double file;          // bytes, or 0 for endless flows
};

// Queue that counts the packets that it has sent.
class Counting : public Queue {
public:
    using Queue::Queue;
    uint64_t sent = 0;

protected:
    void completeService() override {
        sent++;
        Queue::completeService();
    }
};

// Link: a queue, followed by a delay. htsim's queues count the packet in service, so their limit is
// one packet higher.
struct Link {
    Counting queue;
    Pipe pipe;
    Link(double rate, double delay, int limit, EventList& events)
        : queue(linkspeed_bps(rate), mem_b(limit + 1) * PACKET, events, nullptr), pipe(timeFromSec(delay), events) {}
};

// Event source that checks every second if all files have arrived.
class Watch : public EventSource {
public:
    bool done = false;
    Watch(EventList& events, const std::vector<std::unique_ptr<TcpSrc>>& senders, uint64_t bytes)
        : EventSource(events, "watch"), senders(senders), bytes(bytes) {
        if (bytes) events.sourceIsPendingRel(*this, timeFromSec(1));
    }
    void doNextEvent() override {
        done = true;
        for (auto& sender : senders) done = done && sender->_last_acked >= bytes;
        if (!done) eventlist().sourceIsPendingRel(*this, timeFromSec(1));
    }

private:
    const std::vector<std::unique_ptr<TcpSrc>>& senders;
    uint64_t bytes;
};

static double user_s() {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec * 1e-6;
}

static double wall_s() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Line of /proc/self/status with the memory of this process: VmRSS or VmHWM.
static std::string memory(const std::string& name) {
    std::string line;
    for (std::ifstream status("/proc/self/status"); std::getline(status, line);)
        if (line.compare(0, name.size(), name) == 0) return line;
    return "";
}

int main(int argc, char** argv) {
    std::string before = memory("VmRSS:");
    std::string name = "S2";
    double end = 0;
    for (int i = 1; i < argc; i++) {
        if (!strncmp(argv[i], "sc=", 3)) name = argv[i] + 3;
        if (!strncmp(argv[i], "end=", 4)) end = atof(argv[i] + 4);
    }
    Scenario s = name == "S1"   ? Scenario{10, 1, 1.5e6, 10e6, 0.020, 64, 30000, 200.0 * 1024 * 1024}
                 : name == "S2" ? Scenario{100, 100, 100e6, 1e9, 0.001, 1000, 60, 0}
                                : Scenario{1000, 1000, 1e9, 10e9, 0.001, 5000, 20, 0};
    if (end > 0) s.end = end;

    std::cout.setstate(std::ios::failbit);  // htsim prints every timeout and every completion.
    double start = wall_s();
    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(s.end));
    Packet::set_packet_size(PACKET);
    // htsim's own programs check the timers every 10 ms, which slows S1 by a tenth.
    TcpRtxTimerScanner timers(timeFromMs(100), events);

    std::vector<std::unique_ptr<Link>> links;
    auto link = [&](double rate, double delay, int limit) {
        links.emplace_back(new Link(rate, delay, limit, events));
        return links.back().get();
    };
    auto through = [](Route& route, Link* link) {
        route.push_back(&link->queue);
        route.push_back(&link->pipe);
    };
    const int wide = 20000;  // limit of the access links in packets, which is never reached
    Link* forward = link(s.rate, s.delay, s.limit);
    Link* reverse = link(s.rate, s.delay, wide);
    std::vector<Link*> out, in;  // links of the sources' hosts to and from the left router
    for (int i = 0; i < s.sources; i++) {
        double delay = s.file ? 0.0005 : ((0.010 + 0.140 * i / (s.flows - 1)) / 2 - s.delay) / 2;
        out.push_back(link(s.access, delay, wide));
        in.push_back(link(s.access, delay, wide));
    }
    std::vector<std::unique_ptr<Route>> routes;
    std::vector<std::unique_ptr<TcpSrc>> senders;
    std::vector<std::unique_ptr<TcpSink>> receivers;
    uint64_t bytes = uint64_t((s.file + MSS - 1) / MSS) * PACKET;
    for (int i = 0; i < s.flows; i++) {
        double delay = s.file ? 0.0005 : ((0.010 + 0.140 * i / (s.flows - 1)) / 2 - s.delay) / 2;
        Link* right_in = link(s.access, delay, wide);
        Link* right_out = link(s.access, delay, wide);
        senders.emplace_back(new TcpSrc(nullptr, nullptr, events));
        receivers.emplace_back(new TcpSink());
        routes.emplace_back(new Route());
        for (Link* one : {out[i % s.sources], forward, right_in}) through(*routes.back(), one);
        routes.back()->push_back(receivers.back().get());
        routes.emplace_back(new Route());
        for (Link* one : {right_out, reverse, in[i % s.sources]}) through(*routes.back(), one);
        routes.back()->push_back(senders.back().get());
        TcpSrc& sender = *senders.back();
        sender.set_ssthresh(0xffffffff);
        if (bytes) sender.set_flowsize(bytes - PACKET);  // htsim adds one packet.
        double begin = s.file ? 0 : double((i * 7919) % s.flows) / s.flows;
        sender.connect(*routes[2 * i], *routes[2 * i + 1], *receivers.back(), timeFromSec(begin));
        timers.registerTcp(sender);
    }
    Watch watch(events, senders, bytes);

    double cpu0 = user_s(), wall0 = wall_s();  // The measurement excludes the set-up.
    while (!watch.done && events.doNextEvent()) {
    }
    double cpu = user_s() - cpu0, run = wall_s() - wall0;

    uint64_t hops = 0, drops = 0, received = 0;
    for (auto& one : links) {
        hops += one->queue.sent;
        drops += one->queue.num_drops();
    }
    for (auto& receiver : receivers) received += receiver->_cumulative_ack;
    printf("htsim %s setup=%.3f run=%.6f cpu=%.6f sim=%.2f bpk=%lu hops=%lu drop=%lu at_bottleneck=%d goodputMbps=%.3f %s %s\n",
           name.c_str(), wall0 - start, run, cpu, timeAsSec(events.now()), forward->queue.sent, hops, drops,
           forward->queue.num_drops(), received * (8e-6 * MSS / PACKET) / timeAsSec(events.now()), before.c_str(),
           memory("VmHWM:").c_str());
}

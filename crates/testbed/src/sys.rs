//! System calls without a safe wrapper in a library.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use lab::KernelState;
use rustix::fs::{Mode, OFlags};
use rustix::ioctl::{Getter, Opcode, Setter, ioctl};
use rustix::thread::UnshareFlags;
use units::Duration;

/// Request of a TUN device (linux/if_tun.h).
const TUNSETIFF: Opcode = 0x4004_54ca;
const IFF_TUN: i16 = 0x0001;
const IFF_NO_PI: i16 = 0x1000;
/// Unsent bytes of a socket (linux/sockios.h).
const SIOCOUTQNSD: Opcode = 0x894b;

/// Picoseconds per microsecond.
const PS_PER_US: u64 = 1_000_000;
/// Slow-start threshold in segments before the first reduction of cwnd (TCP_INFINITE_SSTHRESH).
const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;

/// `struct ifreq` with flags (linux/if.h).
#[repr(C)]
struct DeviceRequest {
    name: [u8; 16],
    flags: i16,
    rest: [u8; 22],
}

/// Move the calling thread into a new network namespace.
pub fn enter_new_network() -> io::Result<()> {
    // SAFETY: The flag NEWNET does not change the table of file descriptors.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }.map_err(Into::into)
}

/// Create a TUN device in the network namespace of the calling thread. The device exists until its
/// file is closed.
pub fn create_tun(name: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open("/dev/net/tun", flags, Mode::empty())?;
    let mut request = DeviceRequest { name: [0; 16], flags: IFF_TUN | IFF_NO_PI, rest: [0; 22] };
    request.name[..name.len()].copy_from_slice(name.as_bytes());
    // SAFETY: TUNSETIFF reads a `struct ifreq`, whose layout is that of `DeviceRequest`.
    unsafe { ioctl(&file, Setter::<TUNSETIFF, DeviceRequest>::new(request)) }?;
    Ok(file)
}

/// Largest number of open files that a kernel allows by default (fs.nr_open).
const OPEN_FILES: libc::rlim_t = 1 << 20;

/// Permit this process as many open files as the kernel allows, because each connection has two.
pub fn raise_open_files() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: The calls write and read an `rlimit`.
    unsafe {
        let most = libc::rlimit { rlim_cur: OPEN_FILES, rlim_max: OPEN_FILES };
        if libc::setrlimit(libc::RLIMIT_NOFILE, &raw const most) != 0
            && libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0
        {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// Real-time priority of the router. Most real-time tasks of a machine have a higher one.
const PRIORITY: libc::c_int = 10;

/// Give the calling thread a real-time priority. Return true if the kernel permits it.
pub fn raise_priority() -> bool {
    let parameters = libc::sched_param { sched_priority: PRIORITY };
    // SAFETY: The call reads a `sched_param`, and changes only the calling thread.
    unsafe {
        libc::sched_setscheduler(0, libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, &raw const parameters) == 0
    }
}

/// Limit the receive window that a socket advertises, and that the sockets it accepts advertise.
pub fn limit_window(socket: impl AsFd, bytes: u32) -> io::Result<()> {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    // SAFETY: TCP_WINDOW_CLAMP reads an `int`.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_WINDOW_CLAMP,
            (&raw const bytes).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Return the number of bytes that a TCP socket has not sent yet.
pub fn unsent_bytes(socket: impl AsFd) -> io::Result<u64> {
    // SAFETY: SIOCOUTQNSD writes an `int`.
    let bytes: i32 = unsafe { ioctl(socket, Getter::<SIOCOUTQNSD, i32>::new()) }?;
    Ok(bytes.max(0) as u64)
}

/// Read at most `size` bytes of a TCP socket, which the kernel does not copy, and return their
/// number. Zero is the end of the data.
pub fn discard(socket: impl AsFd, size: usize) -> io::Result<usize> {
    // SAFETY: with MSG_TRUNC, TCP does not write to the buffer (tcp(7)).
    let bytes =
        unsafe { libc::recv(socket.as_fd().as_raw_fd(), std::ptr::null_mut(), size, libc::MSG_TRUNC) };
    usize::try_from(bytes).map_err(|_| io::Error::last_os_error())
}

/// State of a TCP socket in its kernel.
#[derive(Clone, Copy, Debug)]
pub struct TcpInfo {
    bytes: [u8; TcpInfo::SIZE],
    size: usize,
}

impl TcpInfo {
    /// Size up to the number of timeouts, which Linux has since version 6.7.
    const SIZE: usize = 248;

    /// Return the state of a socket.
    pub fn of(socket: impl AsFd) -> io::Result<TcpInfo> {
        let mut info = TcpInfo { bytes: [0; TcpInfo::SIZE], size: TcpInfo::SIZE };
        let mut size = TcpInfo::SIZE as libc::socklen_t;
        // SAFETY: TCP_INFO writes at most `size` bytes to the given address.
        let result = unsafe {
            libc::getsockopt(
                socket.as_fd().as_raw_fd(),
                libc::IPPROTO_TCP,
                libc::TCP_INFO,
                info.bytes.as_mut_ptr().cast(),
                &mut size,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        info.size = size as usize;
        Ok(info)
    }

    /// Return the unsigned value of `N` bytes at the offset `at` of `struct tcp_info`
    /// (linux/tcp.h), or `None` if the kernel does not have it.
    fn value<const N: usize>(&self, at: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at + N).filter(|_| at + N <= self.size)?;
        let mut value = [0; 8];
        if cfg!(target_endian = "little") {
            value[..N].copy_from_slice(bytes);
        } else {
            value[8 - N..].copy_from_slice(bytes);
        }
        Some(u64::from_ne_bytes(value))
    }

    /// Return the state that the run records.
    pub fn state(&self) -> KernelState {
        let count = |value: Option<u64>| value.map_or(0, |value| value as u32);
        let mss = self.value::<4>(16).unwrap_or(0) as f64;
        let segments = |value: Option<u64>| value.unwrap_or(0) as f64 * mss;
        let ssthresh = self.value::<4>(76).filter(|&segments| segments < INFINITE_SSTHRESH);
        KernelState {
            timeouts: count(self.value::<2>(240)),
            delivered_ce: count(self.value::<4>(196)),
            cwnd: segments(self.value::<4>(80)),
            ssthresh: ssthresh.map_or(f64::INFINITY, |threshold| segments(Some(threshold))),
            rto: Duration(self.value::<4>(8).unwrap_or(0) * PS_PER_US),
            srtt: self.value::<4>(68).filter(|&us| us > 0).map(|us| Duration(us * PS_PER_US)),
            delivery_rate: self.value::<8>(160).filter(|&rate| rate > 0),
        }
    }
}

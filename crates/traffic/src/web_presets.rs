//! Named models of web traffic. A preset gives values for the keys of web traffic that a scenario
//! does not set. If the source of a preset does not publish a number, a comment in this file says
//! so. Tests compare the presets with their sources.

use units::param::Json;
use units::{Read, words};

use serde_json::json;

words! {
    /// Named model of web traffic, which gives values to keys.
    pub enum Preset {
        /// No preset: the scenario sets every key.
        None = "none",
        /// The web traffic in §4.2 of "The power of explicit congestion notification"
        /// (kuzmanovic2005ecnplus). The mean size of an object is 7.2 kB, and the largest 15 % of
        /// the objects have 80 % of the bytes. A few web objects have sizes of gigabytes. Times
        /// between pages follow a Pareto distribution.
        PowerOfEcn = "power-of-ecn",
        /// The general traffic in §5.3 of "The power of explicit congestion notification"
        /// (kuzmanovic2005ecnplus). The sizes of objects have a heavier tail than in
        /// `power-of-ecn`: the largest 15 % of the objects have 90 % of the bytes.
        GeneralMix = "general-mix",
        /// The web traffic of Feldmann et al. 1999, with the numbers of the large example of ns-2
        /// (feldmann1999dynamics, ns2web).
        Feldmann1999 = "feldmann1999",
        /// SURGE (barford1998surge): files with a lognormal body and a Pareto tail, embedded files,
        /// Weibull times between files, and Pareto times between pages.
        Surge = "surge",
        /// PackMime (cao2004packmime), as implemented in ns-2. On average one connection per second
        /// opens, whether or not earlier connections have finished. Each connection carries one
        /// object.
        PackMime = "packmime",
        /// The HTTP model of 3GPP and 3GPP2 (3gpp25892). A page consists of a main object, then
        /// embedded objects, and is followed by a reading time.
        Http3gpp = "3gpp-http",
        /// The shopping mix of TPC-W (tpcw, tpcwjava): emulated browsers in a bookstore, with think
        /// times between pages. A page consists of one dynamic object and its images, all over one
        /// connection. The database of the bookstore is never the bottleneck.
        TpcW = "tpc-w",
        /// The browsing mix of TPC-W.
        TpcWBrowsing = "tpc-w-browsing",
    }
}

/// Return a distribution on the whole numbers from `first` to `last`. The function `at_most` is the
/// distribution function, except that `last` has all remaining probability.
fn steps(first: u32, last: u32, at_most: impl Fn(f64) -> f64) -> Json {
    let point = |n: u32| json!([n, if n == last { 1.0 } else { at_most(f64::from(n)) }]);
    json!({"kind": "empirical", "between": "steps", "cdf": (first..=last).map(point).collect::<Vec<_>>()})
}

/// Return a distribution of sizes from points of its distribution function, which is interpolated
/// on a logarithmic scale.
fn sizes(points: &[(u32, f64)]) -> Json {
    let point = |&(bytes, p): &(u32, f64)| json!([format!("{bytes} B"), p]);
    json!({"kind": "empirical", "between": "log", "cdf": points.iter().map(point).collect::<Vec<_>>()})
}

/// Object sizes in §4.2 and §5.3 of kuzmanovic2005ecnplus. The paper kuzmanovic2005ecnplus does not
/// publish the distribution of object sizes (smith2001tcpip, le2003effects), so this distribution
/// is a fit. The lognormal body has 85 % of the objects and 20 % of the bytes. The Pareto tail up
/// to 1 GB has 15 % of the objects and 80 % of the bytes. The shape of the tail, 1.2, and the sigma
/// of the body are our choice. The boundary between body and tail, 7060 B, follows from the shape
/// of the tail and the sigma of the body. If the shape is 1 and the body is the same, the tail has
/// 90 % of the bytes, which is the published share for the paper's general traffic.
fn objects_of_power_of_ecn(shape: f64) -> Json {
    json!({"kind": "mixture", "parts": [
        {"weight": 85, "of": {"kind": "lognormal", "mean": "2123 B", "sigma": 1.0, "min": "100 B", "max": "7060 B"}},
        {"weight": 15, "of": {"kind": "bounded_pareto", "min": "7060 B", "max": "1 GB", "shape": shape}},
    ]})
}

/// The web model of feldmann1999dynamics with the object sizes of kuzmanovic2005ecnplus, where each
/// object has its own connection. In the paper feldmann1999dynamics, the times between pages have a
/// Pareto distribution, but its mean and its shape are our choice. The shape 1.5 of the times
/// between pages alone would give a Hurst parameter of 0.75, and the shape 1.2 of the object sizes
/// alone would give 0.9 (willinger1997selfsimilarity). The Hurst parameter of the traffic in the
/// paper lies between 0.75 and 0.9. The number of objects per page, the times between objects, and
/// the size of requests are our choice, too.
fn power_of_ecn(shape: f64) -> Json {
    json!({
        "page_gap": {"kind": "pareto", "mean": "10 s", "shape": 1.5},
        "page_gap_from": "end",
        "objects": {"kind": "geometric", "mean": 4},
        "object_gap": {"kind": "exponential", "mean": "100 ms"},
        "request": "350 B",
        "response": objects_of_power_of_ecn(shape),
        "connections": "each",
    })
}

/// ns-2.35, tcl/ex/large-scale-web-traffic.tcl. (The paper's own workloads, with Pareto distributed
/// times between pages, were not available.) A session has 250 pages. The time from the end of a
/// page to the next page is exponentially distributed with a mean of 15 s. A page has one object
/// with a mean of 12 packets (Lomax distribution with shape 1.2), each of 1000 B in this preset.
/// The clients in the ns-2 example send no requests, so a request in this preset has only one byte.
fn feldmann1999() -> Json {
    json!({
        "pages": 250,
        "page_gap": {"kind": "exponential", "mean": "15 s"},
        "page_gap_from": "end",
        "objects": 1,
        "object_gap": {"kind": "exponential", "mean": "10 ms"},
        "request": "1 B",
        "response": {"kind": "lomax", "mean": "12 kB", "shape": 1.2},
        "connections": "each",
    })
}

/// The distributions of SURGE as other papers quote them, without a comparison with the original
/// paper. Sizes of files: 93 % lognormal (µ 9.357, σ 1.318) up to 133 kB, and the others Pareto
/// above 133 kB (shape 1.1). Number of embedded files, in addition to the main file: Pareto (k 1,
/// shape 2.43), rounded. Times between files: Weibull (scale 1.46 s, shape 0.382). Times between
/// pages: Pareto (k 1 s, shape 1.5). Two properties of SURGE are not modelled. SURGE requests
/// popular files more often and caches them, and SURGE counts the time between files from the end
/// of a file. In this preset, the time between files counts from the request of a file, but the
/// next request also waits for the end of the previous file. The size of a request is our choice.
fn surge() -> Json {
    json!({
        "page_gap": {"kind": "pareto", "mean": "3 s", "shape": 1.5},
        "page_gap_from": "end",
        "objects": steps(2, 200, |n| 1.0 - libm::pow(n - 0.5, -2.43)),
        "object_gap": {"kind": "weibull", "mean": "5537.96 ms", "shape": 0.382},
        "request": "350 B",
        "response": {"kind": "mixture", "parts": [
            {"weight": 0.93, "of": {"kind": "lognormal", "mean": "27600 B", "sigma": 1.318, "max": "133 kB"}},
            {"weight": 0.07, "of": {"kind": "pareto", "mean": "1463 kB", "shape": 1.1}},
        ]},
        "connections": "each",
        "parallel": 1,
    })
}

/// The source is ns-2.35, packmime/packmime_ranvar.cc, at a rate of one connection per second. The
/// preset has the marginal distributions of the PackMime model. At one connection per second, the
/// times between connections have a Weibull distribution with shape 0.587. (At high rates, PackMime
/// has exponentially distributed times between connections.) The distribution functions of sizes
/// have the points and the Pareto tails of ns-2. The processing time of the server is 1/W, at most
/// 0.1 s, where W has a Weibull distribution (scale 305, shape 0.63). Three properties of PackMime
/// are not modelled: the dependence between connections (fractional ARIMA, sequences of cache
/// validations), the persistent connections (one in twelve), and the delays of PackMime's clouds,
/// which a scenario models by links.
fn packmime() -> Json {
    // A response is either a cache validation or a download. At one connection per second, 28.9 %
    // of the responses are cache validations, which follows from mean run lengths of 1.68 and 4.12.
    let validated =
        [(5, 0.0), (75, 0.1011), (113, 0.2021), (124, 0.3031), (140, 0.495), (152, 0.6566), (196, 0.7475)];
    let validated = [&validated[..], &[(214, 0.8081), (249, 0.899), (272, 1.0)]].concat();
    // Each point consists of two base-2 logarithms: of the probability of a larger size, and of the
    // size itself.
    let downloaded = [
        (0.0, 8.1),
        (-0.369, 9.289),
        (-0.7363, 10.4104),
        (-1.1035, 11.4133),
        (-1.4707, 12.2512),
        (-1.8379, 12.9005),
        (-2.3888, 13.5042),
        (-3.1232, 14.0976),
        (-3.8576, 14.8675),
        (-4.2249, 15.0978),
        (-4.9593, 15.3003),
        (-5.5101, 15.6026),
        (-5.8774, 15.8842),
    ];
    let requested =
        [(0.0, 8.72), (-0.9058, 8.9553), (-1.8033, 9.5474), (-2.7008, 9.8393), (-3.9573, 10.4436)];
    json!({
        "page_gap": {"kind": "weibull", "mean": "1 s", "shape": 0.587},
        "page_gap_from": "start",
        "objects": 1,
        "request": {"kind": "mixture", "parts": [
            {"weight": 0.5, "of": sizes(&[(51, 0.0), (218, 0.101), (280, 0.202), (310, 0.303), (352, 0.505), (422, 1.0)])},
            {"weight": 0.5, "of": with_tail(&requested, 1.484)},
        ]},
        "response": {"kind": "mixture", "parts": [
            {"weight": 0.289, "of": sizes(&validated)},
            {"weight": 0.711, "of": with_tail(&downloaded, 1.231)},
        ]},
        "server_time": server_time_of_packmime(),
        "connections": "each",
    })
}

/// Return a distribution of sizes from points, with a Pareto tail above the last point. Each point
/// consists of two base-2 logarithms: of the probability of a larger size, and of the size itself.
fn with_tail(points: &[(f64, f64)], shape: f64) -> Json {
    let &(rest, last) = points.last().unwrap_or(&(0.0, 0.0));
    let (rest, last) = (libm::exp2(rest), libm::exp2(last));
    let body = |&(exceeds, size): &(f64, f64)| {
        (libm::exp2(size).round() as u32, (1.0 - libm::exp2(exceeds)) / (1.0 - rest))
    };
    let mean = format!("{:.0} B", last * shape / (shape - 1.0));
    json!({"kind": "mixture", "parts": [
        {"weight": 1.0 - rest, "of": sizes(&points.iter().map(body).collect::<Vec<_>>())},
        {"weight": rest, "of": {"kind": "pareto", "mean": mean, "shape": shape}},
    ]})
}

/// Return an empirical distribution of the server time. The distribution function is P(1/W ≤ t) =
/// exp(−(1/(305 t))^0.63), given at equally spaced times t. Processing times above 0.1 s become 0.1
/// s.
fn server_time_of_packmime() -> Json {
    let at_most = |s: f64| libm::exp(-libm::pow(1.0 / (305.0 * s), 0.63));
    let mut points: Vec<Json> = (100..=10_000)
        .step_by(99)
        .map(|n| f64::from(n) / 1e5)
        .chain([0.1])
        .map(|s| json!([format!("{:.0} us", s * 1e6), at_most(s)]))
        .collect();
    points.dedup();
    points.push(json!(["100 ms", 1.0]));
    json!({"kind": "empirical", "between": "linear", "cdf": points})
}

/// The 3GPP model of HTTP as ns-3 and other simulators quote it. Size of the main object: lognormal
/// (µ 8.35, σ 1.37), from 100 B to 2 MB. Size of an embedded object: lognormal (µ 6.17, σ 2.36),
/// from 50 B to 2 MB. Number of embedded objects: Pareto (k 2, shape 1.1) up to 55, minus 2,
/// rounded. Reading time: exponential with a mean of 30 s. Parsing time: exponential with a mean of
/// 0.13 s. The published mean sizes of the main object and of embedded objects, 10710 B and 7758 B,
/// are the means before the bounds apply. In the 3GPP model, half of the transfers use HTTP/1.1, as
/// in this preset. For the half of the transfers that does not use HTTP/1.1, set `connections =
/// "each"`.
fn http_3gpp() -> Json {
    json!({
        "page_gap": {"kind": "exponential", "mean": "30 s"},
        "page_gap_from": "end",
        "objects": steps(1, 54, |n| 1.0 - libm::pow(2.0 / (n + 1.5), 1.1)),
        "request": "350 B",
        "main_response": {"kind": "lognormal", "mean": "10710 B", "sigma": 1.37, "min": "100 B", "max": "2 MB"},
        "response": {"kind": "lognormal", "mean": "7758 B", "sigma": 2.36, "min": "50 B", "max": "2 MB"},
        "parse_time": {"kind": "exponential", "mean": "130 ms"},
        "connections": "persistent",
    })
}

/// A web interaction of TPC-W, which is a type of page.
struct Interaction {
    /// Percentage of this interaction in the shopping mix and in the browsing mix (clause 5.2).
    share: [f64; 2],
    /// True if the page has a list of up to 50 books.
    lists: bool,
    /// Numbers of four types of images on the page, from the servlets of tpcwjava: logos, buttons,
    /// thumbnails of books, and images of books.
    images: [u32; 4],
}

const fn interaction(share: [f64; 2], lists: bool, images: [u32; 4]) -> Interaction {
    Interaction { share, lists, images }
}

/// Six interactions that browse come first, followed by eight interactions that order. Browsing has
/// 80 % of the shopping mix and 95 % of the browsing mix.
const INTERACTIONS: [Interaction; 14] = [
    interaction([16.0, 29.0], false, [1, 5, 5, 0]), // home
    interaction([5.0, 11.0], true, [1, 3, 5, 0]),   // new products
    interaction([5.0, 11.0], true, [1, 3, 5, 0]),   // best sellers
    interaction([17.0, 21.0], false, [1, 4, 0, 1]), // product detail
    interaction([20.0, 12.0], false, [1, 3, 5, 0]), // search request
    interaction([17.0, 11.0], true, [1, 3, 5, 0]),  // search results
    interaction([11.6, 2.0], false, [1, 3, 5, 0]),  // shopping cart
    interaction([3.0, 0.82], false, [1, 3, 0, 0]),  // customer registration
    interaction([2.6, 0.75], false, [0, 3, 0, 0]),  // buy request
    interaction([1.2, 0.69], false, [0, 2, 0, 0]),  // buy confirm
    interaction([0.75, 0.30], false, [0, 3, 0, 0]), // order inquiry
    interaction([0.66, 0.25], false, [0, 2, 0, 0]), // order display
    interaction([0.10, 0.10], false, [1, 3, 1, 1]), // admin request
    interaction([0.09, 0.09], false, [1, 2, 1, 1]), // admin confirm
];

/// TPC-W as tpcwjava implements it, because the specification was not available. After a page, a
/// browser thinks for an exponentially distributed time with a mean of 7 s, at most 70 s (clause
/// 5.3). The percentages of the types of pages are those of the mix. A logo has 8.7 kB and a
/// thumbnail has 5 kB. An image of a book has one of five sizes from 5 kB to 250 kB. Four values of
/// this preset are our choice. The first two values of our choice are the size of a request and the
/// size of a button (1.2 to 1.7 kB in tpcwjava). The third value of our choice is the size of a
/// dynamic object, for which we used the output of the servlets: 11 kB with a list of books, and 3
/// kB without a list. The fourth value of our choice is the server time of a dynamic object
/// (kuzmanovic2005ecnplus, §7: the database is not the bottleneck). Images need no server time. Not
/// modelled are the dependence between a page and the number and sizes of its images, the order of
/// pages, sessions, and SSL. A page uses one connection in this preset, while tpcwjava uses up to
/// four connections for the images.
fn tpc_w(mix: usize) -> Json {
    let mixed = |of: fn(&Interaction) -> Json| {
        let parts = INTERACTIONS.iter().map(|i| json!({"weight": i.share[mix], "of": of(i)}));
        json!({"kind": "mixture", "parts": parts.collect::<Vec<_>>()})
    };
    let images =
        |kind: usize| -> f64 { INTERACTIONS.iter().map(|i| i.share[mix] * f64::from(i.images[kind])).sum() };
    let books = [("5 kB", 0.45), ("10 kB", 0.80), ("50 kB", 0.95), ("100 kB", 0.99), ("250 kB", 1.0)];
    json!({
        "page_gap": {"kind": "exponential", "mean": "7 s", "cap": "70 s"},
        "page_gap_from": "end",
        "objects": mixed(|i| json!(1 + i.images.iter().sum::<u32>())),
        "request": "350 B",
        "main_response": mixed(|i| json!(if i.lists { "11 kB" } else { "3 kB" })),
        "response": {"kind": "mixture", "parts": [
            {"weight": images(0), "of": "8700 B"},
            {"weight": images(1), "of": "1500 B"},
            {"weight": images(2), "of": "5 kB"},
            {"weight": images(3), "of": {"kind": "empirical", "between": "steps", "cdf": books}},
        ]},
        "main_server_time": {"kind": "exponential", "mean": "50 ms"},
        "connections": "persistent",
    })
}

/// Return the values that a preset gives to keys.
fn changes(preset: Preset) -> Option<Json> {
    Some(match preset {
        Preset::None => return None,
        Preset::PowerOfEcn => power_of_ecn(1.2),
        Preset::GeneralMix => power_of_ecn(1.0),
        Preset::Feldmann1999 => feldmann1999(),
        Preset::Surge => surge(),
        Preset::PackMime => packmime(),
        Preset::Http3gpp => http_3gpp(),
        Preset::TpcW => tpc_w(0),
        Preset::TpcWBrowsing => tpc_w(1),
    })
}

/// If a document of web traffic names a preset, add the keys of this preset that the document does
/// not contain. If the name of the preset is invalid, the error is reported later, when the
/// document is read.
pub fn expand(document: &mut Json) {
    let Some(map) = document.as_object_mut() else { return };
    let preset = map.get("preset").and_then(|name| Preset::read(name, "").ok());
    let Some(Json::Object(preset)) = preset.and_then(changes) else { return };
    for (key, value) in preset {
        map.entry(key).or_insert(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::{Count, Size, Times};

    fn near(found: f64, printed: f64, within: f64) {
        assert!((found / printed - 1.0).abs() < within, "{found} is not {printed}");
    }

    fn read<T: Read>(preset: Preset, key: &str) -> T {
        let changes = changes(preset).unwrap();
        T::read(&changes[key], key).unwrap()
    }

    #[test]
    fn every_preset_is_valid() {
        let all = ["power-of-ecn", "general-mix", "feldmann1999", "surge", "packmime", "3gpp-http"];
        for name in [&all[..], &["tpc-w", "tpc-w-browsing"]].concat() {
            let mut document = json!({"kind": "web", "preset": name, "request": "99 B"});
            crate::expand(&mut document);
            assert_eq!(document["request"], "99 B");
            crate::Traffic::read(&document, "traffic").unwrap();
        }
        let refused = |preset: &str| {
            let mut document = json!({"kind": "web", "preset": preset});
            crate::expand(&mut document);
            crate::Traffic::read(&document, "traffic").unwrap_err().to_string()
        };
        assert!(
            refused("srge")
                .contains("traffic.preset: \"srge\" is not one of the choices; did you mean surge?")
        );
        assert!(refused("none").contains("traffic.page_gap: is missing"));
    }

    /// Published values of kuzmanovic2005ecnplus. In §4.2 the mean size is 7.2 kB, the largest 15 %
    /// of the objects have about 80 % of the bytes, and some sizes are gigabytes. In §5.3.1 the
    /// largest 15 % of the objects have 90 % of the bytes.
    #[test]
    fn power_of_ecn_matches_the_paper() {
        let size: Size = read(Preset::PowerOfEcn, "response");
        near(size.mean(), 7200.0, 0.005);
        near(size.share_of_largest(0.15), 0.8, 0.005);
        assert!(size.quantile(1.0 - 1e-8) > 9e8);
        let general: Size = read(Preset::GeneralMix, "response");
        near(general.share_of_largest(0.15), 0.9, 0.005);
        near(general.quantile(0.5), size.quantile(0.5), 1e-9);
    }

    /// The mean size of an object is 12 packets of 1000 B, and the mean time between pages is 15 s.
    /// The median of the Lomax distribution is scale (2^(1/shape) − 1).
    #[test]
    fn feldmann1999_matches_the_example_of_ns2() {
        let size: Size = read(Preset::Feldmann1999, "response");
        near(size.mean(), 12_000.0, 1e-9);
        near(size.quantile(0.5), 2400.0 * (libm::pow(2.0, 1.0 / 1.2) - 1.0), 1e-9);
        near(read::<Times>(Preset::Feldmann1999, "page_gap").mean(), 15.0, 1e-9);
    }

    /// The test checks four quoted values of SURGE: the median exp(9.357) of the lognormal body,
    /// the minimum 133 kB of the Pareto tail, the Weibull scale 1.46 s (the quantile of 1 − 1/e),
    /// and the minimum time of 1 s between pages. One page in a hundred has at least 100^(1/2.43)
    /// embedded files.
    #[test]
    fn surge_matches_its_quoted_table() {
        let size: Size = read(Preset::Surge, "response");
        near(size.quantile(0.93), 133_000.0, 0.01);
        let body = libm::exp(9.357 + 1.318 * 1.318 / 2.0);
        near(27_600.0, body, 0.001);
        near(size.quantile(1.0 - 0.07 / 2.0), 133_000.0 * libm::pow(2.0, 1.0 / 1.1), 0.001);
        let between: Times = read(Preset::Surge, "object_gap");
        near(between.quantile(1.0 - libm::exp(-1.0)), 1.46, 0.001);
        let gap: Times = read(Preset::Surge, "page_gap");
        near(gap.quantile(0.0), 1.0, 1e-9);
        let objects: Count = read(Preset::Surge, "objects");
        near(objects.quantile(0.99), 1.0 + libm::pow(100.0, 1.0 / 2.43).round(), 1e-9);
    }

    /// The expected quantiles come from the tables of ns-2. The median of the server time is 1/305
    /// s (ln 2)^(−1/0.63).
    #[test]
    fn packmime_has_the_quantiles_of_ns2() {
        let requests: Size = read(Preset::PackMime, "request");
        near(requests.quantile(0.25), 352.0, 0.02);
        near(requests.quantile(1.0 - 0.5 * libm::exp2(-3.9573)), libm::exp2(10.4436), 0.02);
        near(requests.quantile(1.0 - 0.5 * libm::exp2(-10.04)), libm::exp2(14.5413), 0.02);
        let responses: Size = read(Preset::PackMime, "response");
        near(responses.quantile(1.0 - 0.711 * libm::exp2(-5.8774)), libm::exp2(15.8842), 0.02);
        near(responses.quantile(1.0 - 0.711 * libm::exp2(-10.1004)), libm::exp2(19.3143), 0.02);
        let server: Times = read(Preset::PackMime, "server_time");
        near(server.quantile(0.5), libm::pow(std::f64::consts::LN_2, -1.0 / 0.63) / 305.0, 0.02);
        near(server.quantile(0.999), 0.1, 1e-6);
        near(read::<Times>(Preset::PackMime, "page_gap").mean(), 1.0, 1e-9);
    }

    /// The published means and standard deviations follow from the published µ and σ of the
    /// distributions without bounds. A page has an average of 5.64 embedded objects, and at most
    /// 53.
    #[test]
    fn http_of_3gpp_matches_the_printed_values() {
        for (mean, deviation, mu, sigma) in
            [(10710.0, 25032.0, 8.35, 1.37), (7758.0, 126_168.0, 6.17, 2.36_f64)]
        {
            let square: f64 = sigma * sigma;
            near(libm::exp(mu + square / 2.0), mean, 0.02);
            near(mean * libm::sqrt(libm::expm1(square)), deviation, 0.02);
        }
        let main: Size = read(Preset::Http3gpp, "main_response");
        near(main.quantile(0.5), libm::exp(8.35), 0.02);
        near(main.mean(), 10710.0, 0.02);
        let embedded: Size = read(Preset::Http3gpp, "response");
        assert!(embedded.quantile(0.0) >= 50.0 && embedded.quantile(1.0 - 1e-12) <= 2e6);
        let objects: Count = read(Preset::Http3gpp, "objects");
        near(objects.mean() - 1.0, 5.64, 0.02);
        near(objects.quantile(0.9999), 54.0, 1e-9);
        near(read::<Times>(Preset::Http3gpp, "page_gap").mean(), 30.0, 1e-9);
        near(read::<Times>(Preset::Http3gpp, "parse_time").mean(), 0.13, 1e-9);
    }

    /// Interactions that browse are 80 % of the pages in the shopping mix, and 95 % in the browsing
    /// mix. The mean think time is 7 s, and its maximum is 70 s. Without the maximum, a share of
    /// exp(−10) of the think times would exceed 70 s. The home page is 16 % of the pages in the
    /// shopping mix, and 29 % in the browsing mix. The images of books have the same sizes as in
    /// the populated database of TPC-W.
    #[test]
    fn tpc_w_matches_its_mixes() {
        let shopping = (Preset::TpcW, 80.0, 0.16, 8.3222, 0.1719);
        let browsing = (Preset::TpcWBrowsing, 95.0, 0.29, 8.7736, 0.2119);
        for (mix, (preset, browse, home, images, books)) in [shopping, browsing].into_iter().enumerate() {
            let sum = |of: &[Interaction]| of.iter().map(|i| i.share[mix]).sum::<f64>();
            near(sum(&INTERACTIONS[..6]), browse, 1e-12);
            near(sum(&INTERACTIONS), 100.0, 1e-12);
            let think: Times = read(preset, "page_gap");
            near(think.mean(), 7.0 * (1.0 - libm::exp(-10.0)), 1e-12);
            near(think.quantile(0.5), 7.0 * std::f64::consts::LN_2, 1e-12);
            near(think.quantile(1.0 - libm::exp(-10.0) / 2.0), 70.0, 1e-12);
            // A home page has the maximum number of objects, 12: the page itself, the logo, five
            // buttons and five thumbnails.
            let objects: Count = read(preset, "objects");
            near(objects.mean(), 1.0 + images, 1e-9);
            near(objects.quantile(1.0 - 0.999 * home), 12.0, 1e-12);
            assert!(objects.quantile(1.0 - 1.001 * home) < 12.0);
            let size: Size = read(preset, "response");
            for (exceeds, min, next) in [(0.2, 10e3, 50e3), (0.05, 50e3, 100e3), (0.01, 100e3, 250e3)] {
                let share = exceeds * books / images;
                near(size.quantile(1.0 - 1.001 * share), min, 1e-9);
                near(size.quantile(1.0 - 0.999 * share), next, 1e-9);
            }
        }
    }
}

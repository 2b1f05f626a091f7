//! Named models of web traffic. Each preset gives values for the keys that a scenario does not set.
//! A comment names each number that the source of a preset does not publish, and tests compare the
//! presets with their sources.

use units::param::Json;
use units::{Read, words};

use serde_json::json;

words! {
    /// Named model of web traffic.
    pub enum Preset {
        /// No model: the scenario sets every key.
        None = "none",
        /// The web traffic of "The power of explicit congestion notification", §4.2
        /// (kuzmanovic2005ecnplus). Objects have a mean of 7.2 kB, the largest 15 % of the objects
        /// have 80 % of the bytes, and a few objects have gigabytes. Times between pages follow a
        /// Pareto distribution.
        PowerOfEcn = "power-of-ecn",
        /// The general traffic of the same paper, §5.3. The tail of the object sizes is heavier:
        /// the largest 15 % of the objects have 90 % of the bytes.
        GeneralMix = "general-mix",
        /// The web traffic of Feldmann et al. 1999, with the numbers of the large example of ns-2
        /// (feldmann1999dynamics, ns2web).
        Feldmann1999 = "feldmann1999",
        /// SURGE (barford1998surge): files with a lognormal body and a Pareto tail, embedded files,
        /// Weibull times between files, and Pareto times between pages.
        Surge = "surge",
        /// PackMime (cao2004packmime) as implemented in ns-2: one connection per second on average,
        /// each with one object, whether or not earlier connections have finished.
        PackMime = "packmime",
        /// The HTTP model of 3GPP and 3GPP2 (3gpp25892): a main object, then embedded objects, then
        /// a reading time.
        Http3gpp = "3gpp-http",
        /// The shopping mix of TPC-W (tpcw, tpcwjava): emulated browsers of a bookstore, which
        /// think between pages. A page is one dynamic object and its images over one connection.
        /// The database of the bookstore is never the bottleneck.
        TpcW = "tpc-w",
        /// The browsing mix of TPC-W.
        TpcWBrowsing = "tpc-w-browsing",
    }
}

/// Return a distribution on the whole numbers from `first` to `last`; `at_most` is its distribution
/// function, and `last` has the remaining probability.
fn steps(first: u32, last: u32, at_most: impl Fn(f64) -> f64) -> Json {
    let point = |n: u32| json!([n, if n == last { 1.0 } else { at_most(f64::from(n)) }]);
    json!({"kind": "empirical", "between": "steps", "cdf": (first..=last).map(point).collect::<Vec<_>>()})
}

/// Return sizes with these points of the distribution function, interpolated on a logarithmic
/// scale.
fn sizes(points: &[(u32, f64)]) -> Json {
    let point = |&(bytes, p): &(u32, f64)| json!([format!("{bytes} B"), p]);
    json!({"kind": "empirical", "between": "log", "cdf": points.iter().map(point).collect::<Vec<_>>()})
}

/// Object sizes of kuzmanovic2005ecnplus, §4.2 and §5.3. The paper does not publish the
/// distribution of the sizes (smith2001tcpip, le2003effects), so this distribution is a fit. A
/// lognormal body has 85 % of the objects and 20 % of the bytes, and a Pareto tail up to 1 GB has
/// 15 % and 80 %. The tail's shape of 1.2 and the body's sigma are our choice; the boundary of 7060
/// B follows from them. With shape 1 and the same body, the tail has 90 % of the bytes, the
/// published share for the paper's general traffic.
fn objects_of_power_of_ecn(shape: f64) -> Json {
    json!({"kind": "mixture", "parts": [
        {"weight": 85, "of": {"kind": "lognormal", "mean": "2123 B", "sigma": 1.0, "min": "100 B", "max": "7060 B"}},
        {"weight": 15, "of": {"kind": "bounded_pareto", "min": "7060 B", "max": "1 GB", "shape": shape}},
    ]})
}

/// The model of feldmann1999dynamics with the given objects, each over its own connection.
/// According to the paper, the times between pages are Pareto distributed; the mean and the shape
/// are our choice. The shape 1.5 alone would give a Hurst parameter of 0.75, and the sizes' shape
/// 1.2 one of 0.9 (willinger1997selfsimilarity); the paper's value lies between them. The number of
/// objects per page, the times between them and the requests are our choice too.
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

/// ns-2.35, tcl/ex/large-scale-web-traffic.tcl. (The paper's own workloads, with Pareto times
/// between pages, were not available.) A session has 250 pages, with an exponential time of mean 15
/// s from the end of one page to the next. A page has one object of 12 packets on average (Lomax,
/// shape 1.2), here of 1000 B each. The clients of the ns-2 example send no request, so a request
/// has one byte in this preset.
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

/// The models of SURGE as the literature quotes them; they were not compared with the paper. Files:
/// 93 % lognormal (µ 9.357, σ 1.318) up to 133 kB, and above it Pareto (shape 1.1). Embedded files:
/// Pareto (k 1, shape 2.43), rounded, in addition to the file itself. Times between files: Weibull
/// (scale 1.46 s, shape 0.382). Times between pages: Pareto (k 1 s, shape 1.5). Two properties are
/// not modelled: SURGE requests popular files more often and caches them, and it counts the time
/// between files from the end of a file. In this preset, the time between files counts from the
/// request of a file, and the next request also waits for the end of that file. The size of a
/// request is our choice.
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

/// ns-2.35, packmime/packmime_ranvar.cc, at a rate of one connection per second. The preset has the
/// marginal distributions of the PackMime model. Times between connections are Weibull with shape
/// 0.587 at this rate (exponential at high rates). Sizes have the points of the distribution
/// functions of ns-2, with its Pareto tails. A server takes 1/W with W Weibull (scale 305, shape
/// 0.63), at most 0.1 s. Three properties are not modelled: the dependence between connections
/// (fractional ARIMA, runs of cache validations), the persistent connections, which are one in
/// twelve, and the delays of its clouds, which a scenario models by links.
fn packmime() -> Json {
    // A response is a cache validation (28.9 % at this rate, from run lengths of 1.68 and 4.12) or
    // a download.
    let validated =
        [(5, 0.0), (75, 0.1011), (113, 0.2021), (124, 0.3031), (140, 0.495), (152, 0.6566), (196, 0.7475)];
    let validated = [&validated[..], &[(214, 0.8081), (249, 0.899), (272, 1.0)]].concat();
    // Base-2 logarithms: of the probability of a larger size, and of the size.
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

/// Return a distribution from points and a Pareto tail beyond the last point. Each point has two
/// base-2 logarithms: of the probability of a larger size, and of the size.
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

/// Return P(1/W ≤ t) = exp(−(1/305 t)^0.63) at points on a logarithmic scale. Larger times become
/// 0.1 s.
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

/// The model as ns-3 and other simulators quote it. Main object: lognormal (µ 8.35, σ 1.37), 100 B
/// to 2 MB. Embedded objects: lognormal (µ 6.17, σ 2.36), 50 B to 2 MB; their number is Pareto (k
/// 2, shape 1.1) up to 55, less 2, rounded. Reading and parsing: exponential, 30 s and 0.13 s. The
/// published mean sizes, 10710 B and 7758 B, are the means before the bounds apply. Half of the
/// model's transfers use HTTP/1.1, as here; for the other half write `connections = "each"`.
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

/// A web interaction of TPC-W.
struct Interaction {
    /// Percentage of the shopping mix and of the browsing mix (clause 5.2).
    share: [f64; 2],
    /// True if the page lists up to 50 books.
    lists: bool,
    /// Number of images of the page, from the servlets of tpcwjava: logos, buttons, thumbnails of
    /// books, and images of books.
    images: [u32; 4],
}

const fn interaction(share: [f64; 2], lists: bool, images: [u32; 4]) -> Interaction {
    Interaction { share, lists, images }
}

/// The six interactions that browse (80 % and 95 % of the mixes), then the eight that order.
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

/// TPC-W as implemented by tpcwjava; the specification was not available. Browsers think after a
/// page for an exponential time of mean 7 s, at most 70 s (clause 5.3). Pages have the percentages
/// of the mix. The logo has 8.7 kB, a thumbnail has 5 kB, and images of books have five sizes from
/// 5 kB to 250 kB. Four values are our choice: the size of a request; the size of buttons (1.2 to
/// 1.7 kB in tpcwjava); the size of a dynamic object, 11 kB with a list of books and 3 kB without,
/// after the output of the servlets; and its server time (kuzmanovic2005ecnplus, §7: the database
/// is not the bottleneck), while images take no time. The following is not modelled: the dependence
/// between a page, its images and their sizes, the order of pages, sessions, and SSL. A page has
/// one connection; tpcwjava uses up to four for the images.
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

/// Return the keys that a preset sets.
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

/// Add the keys of the preset that a document of web traffic names, except those that the document
/// contains. An invalid name is reported when the document is read.
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

    /// Published values of kuzmanovic2005ecnplus: §4.2 gives a mean of 7.2 kB, about 80 % of the
    /// bytes for the largest 15 %, and sizes of gigabytes; §5.3.1 gives 90 % of the bytes.
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

    /// Means of 12 packets of 1000 B and of 15 s. The median of the Lomax distribution is scale
    /// (2^(1/shape) − 1).
    #[test]
    fn feldmann1999_matches_the_example_of_ns2() {
        let size: Size = read(Preset::Feldmann1999, "response");
        near(size.mean(), 12_000.0, 1e-9);
        near(size.quantile(0.5), 2400.0 * (libm::pow(2.0, 1.0 / 1.2) - 1.0), 1e-9);
        near(read::<Times>(Preset::Feldmann1999, "page_gap").mean(), 15.0, 1e-9);
    }

    /// Quoted values: the median exp(9.357) of the body, the minimum 133 kB of the tail, the
    /// Weibull scale 1.46 s (the quantile of 1 − 1/e), and gaps of at least 1 s. One page in a
    /// hundred has 100^(1/2.43) or more embedded files.
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

    /// Quantiles of the tables of ns-2. The median server time is 1/305 s (ln 2)^(−1/0.63).
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

    /// The published means and standard deviations follow from the published µ and σ before the
    /// bounds apply. A page has 5.64 embedded objects on average, at most 53.
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

    /// In the shopping mix 80 % of the pages are interactions that browse, and in the browsing mix
    /// 95 %. The think time is 7 s on average and at most 70 s, which a share of exp(−10) would
    /// exceed. Home pages are 16 % of the shopping mix and 29 % of the browsing mix. Images of
    /// books have the sizes of the populated database.
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
            // A home page has 12 objects, the maximum: itself, the logo, five buttons and five
            // thumbnails.
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

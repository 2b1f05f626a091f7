/** What two settings give: one sentence, and the measures of A and B with their paired differences. */
import type { Measures } from "../results/measures";
import { comparedKeys } from "../state/laboratory";
import type { Arm } from "../state/arm";
import { seeds } from "../state/shared";
import { present } from "./answer";
import { bounds, change, judged, signed, type Change } from "./difference";
import { tile, type Tile } from "./tiles";

/** Measures of the sentence. */
const FIRST: [keyof Measures, string][] = [
  ["median_delay_s", "median delay"],
  ["goodput_bps", "goodput"],
  ["dropped", "share of dropped packets"],
  ["marked", "share of marked packets"],
];
/** Maximum number of keys that are listed. */
const MOST_KEYS = 5;

/** Return what happens to a measure from A to B. */
function happens(of: Tile, name: string, { from, to, mean, interval, sure }: Change): string {
  const values = [from, to].map(of.format);
  if (values[0] === values[1] && !sure) return `the ${name} stays at ${values[0]}`;
  const within = interval ? `${signed(of, mean)} [${bounds(of, interval)}]` : signed(of, mean);
  if (interval && !sure) return `the ${name} shows no clear change from ${values[0]} to ${values[1]} (${within})`;
  return `the ${name} ${mean > 0 ? "rises" : "falls"} from ${values[0]} to ${values[1]} (${within})`;
}

/** Return the sentence above all figures. */
function sentence(a: Measures[], b: Measures[]): string {
  const parts = FIRST.flatMap(([key, name]) => {
    const of = change(key, a, b);
    return of && (of.from !== 0 || of.to !== 0) ? [happens(tile(key), name, of)] : [];
  });
  const last = parts.pop();
  return `From A to B, ${parts.length > 0 ? `${parts.join(", ")}, and ` : ""}${last ?? "no measure is known"}.`;
}

/** Show the keys in which the scenarios differ. */
function Keys() {
  const all = comparedKeys.value;
  if (all.length === 0) return <p class="note">A and B are the same scenario. Change a control of B.</p>;
  return (
    <p class="note keys">
      B differs from A in{" "}
      {all.slice(0, MOST_KEYS).map(([path, before, after], i) => (
        <span key={path}>{i > 0 && ", "}<code>{path}</code> ({before} → {after})</span>
      ))}
      {all.length > MOST_KEYS && ` and ${all.length - MOST_KEYS} more keys`}.
    </p>
  );
}

function Row({ of, a, b }: { of: Tile; a: Measures[]; b: Measures[] }) {
  const between = change(of.key, a, b);
  const [from, to] = between ? [between.from, between.to] : [a[0]![of.key], b[0]![of.key]];
  return (
    <tr title={of.meaning}>
      <th scope="row">{of.label}</th>
      <td data-measure={of.key} data-arm="A" data-value={String(from)}>{of.format(from)}</td>
      <td data-measure={of.key} data-arm="B" data-value={String(to)}>{of.format(to)}</td>
      <td class={between && judged(of, between)} data-difference={of.key} data-value={String(between?.mean)}>{between ? signed(of, between.mean) : "–"}</td>
      <td class="interval">{between?.interval ? bounds(of, between.interval) : "–"}</td>
    </tr>
  );
}

/** Show the sentence and the table of the measures. */
export function Comparison({ a, b }: { a: Arm; b: Arm }) {
  const [ofA, ofB] = [a.replicated.value, b.replicated.value];
  if (ofA.length === 0 || ofB.length === 0) return <p class="answer" role="status">{a.problem.value || b.problem.value ? "" : "The second scenario is being simulated …"}</p>;
  const n = Math.min(ofA.length, ofB.length);
  const links = [...new Set([a.link.value, b.link.value])].join(" in A and ");
  return (
    <>
      <p class="answer between" role="status" id="answer">{sentence(ofA, ofB)}</p>
      <Keys />
      <div class="scroll" tabIndex={0} role="region" aria-label="Measures of A and B">
        <table class="measures">
          <thead>
            <tr><th scope="col">measure</th><th scope="col"><b class="badge a">A</b></th><th scope="col"><b class="badge b">B</b></th><th scope="col">B − A</th><th scope="col">95 % interval</th></tr>
          </thead>
          <tbody>{present([ofA[0]!, ofB[0]!]).map((of) => <Row key={of.key} of={of} a={ofA} b={ofB} />)}</tbody>
        </table>
      </div>
      <p class="note">
        {n > 1
          ? `A and B are means over ${n} seeds, the same seeds for both. Brackets and the last column have the 95 % interval of the paired differences, for each measure alone. The curves are those of the first seed, and bands span all seeds; pp are percentage points.`
          : seeds.value > 1
            ? "The runs with the other seeds are in progress; until then, the numbers are those of one run."
            : "One run is one random sample. Choose several seeds for an interval of each difference."}
        {` Delays, drops and marks are those of ${links}${a.link.value === b.link.value ? "" : " in B"}.`}
      </p>
    </>
  );
}

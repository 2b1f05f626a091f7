/** What one setting gives: one sentence, and the measures beside those of the previous setting. */
import type { Measures } from "../results/measures";
import { rate, share, time } from "../scenario/quantity";
import type { Arm } from "../state/arm";
import { Difference } from "./difference";
import { TILES, type Tile } from "./tiles";

/** Return the sentence above all figures. */
export function sentence(of: Measures, link: string): string {
  const signals = [of.dropped > 0 && `drops ${share(of.dropped)}`, of.marked > 0 && `marks ${share(of.marked)}`].filter(Boolean);
  const action = signals.length > 0 ? `${signals.join(" and ")} of its packets` : "drops and marks no packet";
  const wait = Number.isFinite(of.median_delay_s)
    ? `Half of the packets wait at least ${time(of.median_delay_s)} in the queue of ${link}, and one in twenty at least ${time(of.p95_delay_s)}. `
    : "";
  return `The flows get ${rate(of.goodput_bps)}, and the queue of ${link} ${action}. ${wait}`.trim();
}

/** Return the measures that any of the runs has. */
export function present(all: Measures[]): Tile[] {
  const isAbsent = ({ key }: Tile) => all.every((of) => Number.isNaN(of[key]) || (key === "marked" && of.marked === 0));
  return TILES.filter((tile) => !isAbsent(tile));
}

/** Show the sentence and the measures of one scenario. */
export function Answer({ arm }: { arm: Arm }) {
  const [now, before] = [arm.replicated.value, arm.replicatedBefore.value];
  const of = now[0];
  if (!of) return <p class="answer" role="status">{arm.problem.value ? "" : "The simulator is being loaded …"}</p>;
  return (
    <>
      <p class="answer" role="status" id="answer">{sentence(of, arm.link.value)}</p>
      <dl class="tiles">
        {present([of, ...before]).filter(({ key }) => !Number.isNaN(of[key])).map((tile) => (
          <div key={tile.key} title={tile.meaning}>
            <dt>{tile.label}</dt>
            <dd>
              <span class="value" data-measure={tile.key} data-value={String(of[tile.key])}>{tile.format(of[tile.key])}</span>
              <Difference tile={tile} before={before} after={now} />
            </dd>
          </div>
        ))}
      </dl>
      <p class="note">
        {now.length > 1
          ? `The numbers and curves are those of seed ${arm.shown.value!.result.manifest.seed}; the bands span ${now.length} seeds. Differences are means over the seeds.`
          : "One run is one random sample. Another seed gives different numbers."}
        {before.length > 0 && " Small numbers are differences from the grey setting; pp are percentage points."}
      </p>
    </>
  );
}

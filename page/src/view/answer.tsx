/** What the setting gives: one sentence, and the measures beside those of the previous setting. */
import type { Measures } from "../results/measures";
import { rate, share, time } from "../scenario/quantity";
import * as state from "../state/laboratory";
import { paired } from "../results/paired";
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

function Difference({ tile }: { tile: Tile }) {
  const [now, before] = [state.current.value?.[tile.key], state.previous.value?.[tile.key]];
  if (now === undefined || before === undefined || !Number.isFinite(now) || !Number.isFinite(before)) return null;
  const pairs = paired(
    state.replicated.value.map((of) => of[tile.key]),
    state.replicatedBefore.value.map((of) => of[tile.key]),
  );
  const interval = pairs && `${tile.format(pairs.low)} to ${tile.format(pairs.high)}`;
  const change = pairs ? pairs.mean : now - before;
  const sure = !pairs || pairs.low > 0 || pairs.high < 0;
  const good = change === 0 || !sure ? "" : (change > 0) === (tile.better === "more") ? "good" : "bad";
  return (
    <span class={`difference ${good}`} title={pairs ? `Mean difference over ${pairs.n} seeds, with a 95 % interval: ${interval}` : "Difference from the previous setting, in one run"}>
      {change >= 0 ? "+" : "−"}
      {tile.format(Math.abs(change))}
      {pairs ? ` [${interval}]` : ""}
    </span>
  );
}

/** Show the sentence and the measures. */
export function Answer() {
  const of = state.current.value;
  if (!of) return <p class="answer" role="status">{state.problem.value ? "" : "The simulator is being loaded …"}</p>;
  const before = state.previous.value;
  const isAbsent = ({ key }: Tile) => Number.isNaN(of[key]) || (key === "marked" && !(of.marked > 0 || before?.marked));
  const tiles = TILES.filter((tile) => !isAbsent(tile));
  return (
    <>
      <p class="answer" role="status" id="answer">{sentence(of, state.link.value)}</p>
      <dl class="tiles">
        {tiles.map((tile) => (
          <div key={tile.key} title={tile.meaning}>
            <dt>{tile.label}</dt>
            <dd>
              <span class="value" data-measure={tile.key} data-value={String(of[tile.key])}>{tile.format(of[tile.key])}</span>
              <Difference tile={tile} />
            </dd>
          </div>
        ))}
      </dl>
      <p class="note">
        {state.shown.value!.seeds.length > 1
          ? `The numbers and curves are those of seed ${state.shown.value!.result.manifest.seed}; the band spans ${state.shown.value!.seeds.length} seeds. Differences are means over the seeds.`
          : "One run is one random sample. Another seed gives different numbers."}
        {state.previous.value && " Small numbers are differences from the grey setting."}
      </p>
    </>
  );
}

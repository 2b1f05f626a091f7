/** Table of the flows, with their goodput, losses and timeouts. */
import { cell, names, type Result } from "../results/result";
import { rate, time } from "../scenario/quantity";
import { arms, type Arm } from "../state/arm";
import { Badge } from "./badge";
import { flowColour } from "./colours";

/** Maximum number of rows. */
const MOST = 24;

function bars(result: Result): { flow: string; goodput: number; row: number; table: string }[] {
  return ["flows", "replies", "datagrams"].flatMap((table) =>
    names(result, table, "flow").map((flow, row) => ({ flow, row, table, goodput: cell(result, table, "goodput_bps", row) })));
}

/** Return the results that an arm shows: the current one and the previous one. */
const resultsOf = ({ shown, previous }: Arm) => [shown.value, previous.value].flatMap((of) => (of ? [of.result] : []));

function FlowsOf({ arm, maximum }: { arm: Arm; maximum: number }) {
  const [result, old] = resultsOf(arm);
  if (!result) return null;
  const all = bars(result).filter((of) => of.table !== "replies" || of.goodput > 0);
  const before = new Map(old ? bars(old).map((of) => [of.table + of.flow, of.goodput]) : []);
  const count = (of: (typeof all)[number], column: string) => {
    const value = cell(result, of.table, column, of.row);
    return Number.isFinite(value) ? String(value) : "–";
  };
  const several = new Map(names(result, "connections", "flow").map((flow, row) => [flow, row]));
  return (
    <div>
      <Badge arm={arm} />
      <div class="scroll" tabIndex={0} role="region" aria-label={`Table of flows${arms.value.length > 1 ? ` of ${arm.name}` : ""}`}>
        <table>
          <thead>
            <tr><th scope="col">flow</th><th scope="col">goodput</th><th scope="col" class="bar-head" /><th scope="col">dropped</th><th scope="col">marked</th><th scope="col">retransmitted</th><th scope="col">timeouts</th><th scope="col">median time</th></tr>
          </thead>
          <tbody>
            {all.slice(0, MOST).map((of) => {
              const old = before.get(of.table + of.flow);
              const connection = several.get(of.flow);
              return (
                <tr key={of.table + of.flow}>
                  <th scope="row">{of.flow}{of.table === "replies" ? " (reverse)" : ""}</th>
                  <td data-goodput={of.flow} data-value={String(of.goodput)}>{rate(of.goodput)}</td>
                  <td class="bar">
                    <div style={{ width: `${(100 * of.goodput) / maximum}%`, background: flowColour(result, of.flow) }} />
                    {old !== undefined && <i style={{ left: `${(100 * old) / maximum}%` }} />}
                  </td>
                  <td>{count(of, "dropped_packets")}</td>
                  <td>{count(of, "marked_packets")}</td>
                  <td>{count(of, "retransmitted_segments")}</td>
                  <td>{count(of, "timeouts")}</td>
                  <td>{connection === undefined ? "–" : time(cell(result, "connections", "median_duration_s", connection))}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {all.length > MOST && <p class="note">{all.length - MOST} more flows are in the table as CSV.</p>}
    </div>
  );
}

/** Show the flows. */
export function Flows() {
  const results = arms.value.flatMap(resultsOf);
  if (results.length === 0) return null;
  const maximum = Math.max(...results.flatMap(bars).map((of) => of.goodput), 1);
  return (
    <section class="figure wide" aria-label="Flows">
      <header><h2>Flows</h2></header>
      <p class="note">
        Goodput is application data per second.
        {arms.value.some(({ previous }) => previous.value) && " The grey line is the goodput before the change."}
      </p>
      <div class="beside">{arms.value.map((arm) => <FlowsOf key={arm.name} arm={arm} maximum={maximum} />)}</div>
    </section>
  );
}

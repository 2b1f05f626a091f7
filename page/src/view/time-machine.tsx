/** The time machine: one cursor for all figures, and the state of the link at its time. */
import { flowIndex, grouped, numbers, type Result } from "../results/result";
import { ONE_LINE, queueAt, rowAt, waited, type Queue, type Waited } from "../results/waiting";
import { rounded } from "../scenario/quantity";
import { queueOf } from "../scenario/queue-of";
import { arms, type Arm } from "../state/arm";
import { describe, eventsOf, eventsUntil, STEPS, stepOver, type Event } from "../state/events";
import { enlarge, moment, play, playing, show, step, visibleRange, zoom } from "../state/time";
import { Badge } from "./badge";
import { MOST_CURVES } from "./panes/windows";
import { QueuePicture } from "./queue-picture";

/** Number of positions of the slider of the cursor. */
const POSITIONS = 2000;
/** Number of events before the cursor that the page lists, and maximum number of those at its time. */
const LISTED = 3;
const MOST_LISTED = 12;

const known = new WeakMap<Result, { link: string; all: Waited; flows: string[] }>();

/** Return the packets that waited at the selected link and their flows, or undefined if the run did not record them. */
function recorded({ detail, link, normalized }: Arm): { all: Waited; flows: string[] } | undefined {
  const of = detail.value;
  if (!of || of.link !== link.value || !of.result.tables["packet_delays"]) return undefined;
  const before = known.get(of.result);
  if (before?.link === of.link) return before;
  const all = waited(of.result, of.link, queueOf(normalized.value, of.link));
  const flows = [...new Set(all.packets.map(({ flow }) => flow))].sort((a, b) => flowIndex(of.result, a) - flowIndex(of.result, b));
  const next = { link: of.link, all, flows };
  known.set(of.result, next);
  return next;
}

/** Return the last row of a table for a flow at a time or before it. */
function rowOfFlow(result: Result, table: string, flow: string, time: number): number | undefined {
  return rowAt(numbers(result, table, "time_s"), grouped(result, table, "flow").get(flow) ?? [], time);
}

/** Return a window of a flow in kB: after its last change, or that of the last sample. */
function windowAt({ shown, detail }: Arm, column: "cwnd" | "ssthresh" | "flight", flow: string, time: number): string {
  const changes = column === "flight" ? undefined : detail.value?.result;
  const [result, table, name] = changes?.tables["why_cwnd"]
    ? [changes, "why_cwnd", `${column}_after_bytes`]
    : [shown.value!.result, "window", `${column}_bytes`];
  const row = rowOfFlow(result, table, flow, time);
  if (row === undefined) return "–";
  const bytes = numbers(result, table, name)[row]!;
  return Number.isFinite(bytes) ? rounded(bytes / 1e3, 4) : "∞";
}

function Windows({ arm, time }: { arm: Arm; time: number }) {
  const flows = [...grouped(arm.shown.value!.result, "window", "flow").keys()].slice(0, MOST_CURVES);
  const labels = { cwnd: "cwnd (kB)", ssthresh: "ssthresh (kB)", flight: "in flight (kB)" } as const;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Windows at this time">
      <table>
        <thead><tr><th scope="col">sender</th>{flows.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
        <tbody>
          {(Object.keys(labels) as (keyof typeof labels)[]).map((column) => (
            <tr key={column}>
              <th scope="row">{labels[column]}</th>
              {flows.map((name) => <td key={name}>{windowAt(arm, column, name, time)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** List the last events: those at the time of the last event, and some before it. */
function Events({ all, until }: { all: Event[]; until: number }) {
  const last = all[until - 1]?.time;
  let first = until;
  while (first > 0 && all[first - 1]!.time === last) first -= 1;
  const from = Math.max(0, Math.min(first, until - LISTED));
  const listed = all.slice(from, until).reverse().slice(0, MOST_LISTED);
  return (
    <ol class="events">
      {listed.map((event, i) => {
        const { text, values, meaning } = describe(event);
        return (
          <li key={`${until} ${i}`} class={`${event.kind} ${event.time === moment.value ? "now" : ""}`}>
            {event.time.toFixed(6)} s: {text}
            {values && <span class="values"> ({values})</span>}
            {meaning && <span class="note"> {meaning}</span>}
          </li>
        );
      })}
    </ol>
  );
}

/** Return the sentences about the picture of the queue. */
function about(queue: Queue, perFlow: boolean, sampled: number): string {
  const picture = queue.packets.length === 0 && !queue.exact
    ? "Each square is a packet."
    : "Each square is a packet in the colour of its flow, and a hole is a CE mark.";
  const order = perFlow && queue.packets.length > 0
    ? "Each row has the packets of one flow, the oldest one on the right."
    : "The head of the queue is on the right.";
  const number = queue.exact
    ? "The queue is exact: its packets after the events at this time."
    : `The number of packets is that of the last sample, at ${sampled.toFixed(3)} s, because the tables do not have every packet at this time.`;
  return `${picture} ${order} ${number}`;
}

function State({ arm, time }: { arm: Arm; time: number }) {
  const result = arm.shown.value?.result;
  if (!result) return null;
  const link = arm.link.value;
  const events = eventsOf(arm);
  const until = eventsUntil(events, time);
  const packets = recorded(arm);
  const queue = queueAt(packets?.all, result, link, time);
  const row = rowAt(numbers(result, "queue", "time_s"), grouped(result, "queue", "link").get(link) ?? [], time);
  const sample = (column: string) => (row === undefined ? Number.NaN : numbers(result, "queue", column)[row]!);
  const average = sample("average_packets");
  const perFlow = !ONE_LINE.has(String(queueOf(arm.normalized.value, link)?.["kind"]));
  return (
    <div class="state">
      <Badge arm={arm} />
      <p>
        <span data-queue={queue.count} data-exact={queue.exact}>{queue.count} packets wait at {link}</span>
        {Number.isFinite(average) && `; the average of the last sample is ${rounded(average)} packets`}.
        {" "}{until} of {events.length} events have happened.
      </p>
      <div class="packets"><QueuePicture of={result} queue={queue} flows={perFlow ? packets?.flows : undefined} /></div>
      <p class="note">{about(queue, perFlow, sample("time_s") || 0)}</p>
      <Windows arm={arm} time={time} />
      <Events all={events} until={until} />
    </div>
  );
}

/** Show the state of the link at the time of the cursor. */
export function TimeMachine() {
  if (!arms.value.some(({ shown }) => shown.value)) return null;
  const time = moment.value;
  return (
    <section class="figure wide" aria-label="Time machine">
      <header><h2>{time === undefined ? "At one moment" : `At ${time.toFixed(6)} s`}</h2></header>
      <p class="note">
        The bar at the bottom moves the cursor of all figures over time. The events are the drops and marks at{" "}
        {[...new Set(arms.value.map(({ link }) => link.value))].join(" and ")}, and the changes of cwnd.
      </p>
      {time !== undefined && <div class="beside">{arms.value.map((arm) => <State key={arm.name} arm={arm} time={time} />)}</div>}
    </section>
  );
}

/** Show the buttons of the cursor. */
export function TimeBar() {
  const [low, high] = visibleRange();
  if (high === 0) return null;
  const time = moment.value;
  const position = time === undefined ? 0 : Math.round((POSITIONS * (time - low)) / (high - low));
  return (
    <div class="bar-of-time" role="group" aria-label="Time of the cursor">
      <button type="button" onClick={() => step(-1)} aria-label="Previous event" title={`Previous of: ${STEPS[stepOver.value]}`}>◀</button>
      <button type="button" onClick={play} aria-pressed={playing.value}>{playing.value ? "Pause" : "Play"}</button>
      <button type="button" onClick={() => step(1)} aria-label="Next event" title={`Next of: ${STEPS[stepOver.value]}`}>▶</button>
      <select value={stepOver.value} aria-label="Events of the steps" onChange={(event) => (stepOver.value = event.currentTarget.value as keyof typeof STEPS)}>
        {Object.entries(STEPS).map(([key, label]) => <option key={key} value={key}>{label}</option>)}
      </select>
      <input
        type="range"
        min={0}
        max={POSITIONS}
        value={position}
        aria-label="Time of the cursor"
        aria-valuetext={time === undefined ? "none" : `${time.toFixed(3)} s`}
        onInput={(event) => show(low + ((high - low) * Number(event.currentTarget.value)) / POSITIONS)}
      />
      <output>{time === undefined ? "– s" : `${time.toFixed(3)} s`}</output>
      <button type="button" onClick={() => enlarge(2)} aria-label="Zoom in" title="Enlarge around the cursor">+</button>
      <button type="button" onClick={() => enlarge(0.5)} disabled={!zoom.value} aria-label="Zoom out">−</button>
      <button type="button" onClick={() => (zoom.value = undefined)} disabled={!zoom.value}>Whole run</button>
    </div>
  );
}

/** The time machine: one cursor for all figures, and the state of the link at its time. */
import { useEffect, useRef } from "preact/hooks";
import type { Waiting } from "../results/departures";
import { grouped, numbers, type Result } from "../results/result";
import { rounded } from "../scenario/quantity";
import { arms, type Arm } from "../state/arm";
import { enlarge, eventsOf, eventsUntil, moment, play, playing, show, step, visibleRange, zoom } from "../state/time";
import { Badge } from "./badge";
import { colour, flowColour, scheme } from "./colours";
import { waitingPackets } from "./panes/waiting";
import { MOST_CURVES } from "./panes/windows";

/** Steps of the slider of the cursor. */
const STEPS = 2000;
/** Number of the last events that the page lists. */
const LISTED = 3;
/** Side of a packet in the picture of the queue, in pixels. */
const SIDE = 9;

/** Return the row of the last sample at a time or before it, or undefined. */
function rowAt(result: Result, table: string, by: string, name: string, time: number): number | undefined {
  const rows = grouped(result, table, by).get(name) ?? [];
  const times = numbers(result, table, "time_s");
  return rows.findLast((row) => times[row]! <= time);
}

/** Draw the waiting packets, the head of the queue on the right. Without `packets`, only their number is known. */
function Packets({ of: result, count, packets }: { of: Result; count: number; packets: Waiting[] | undefined }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    void scheme.value;
    const of = canvas.current!;
    const ratio = devicePixelRatio;
    const width = of.parentElement!.clientWidth;
    const perRow = Math.max(1, Math.floor(width / SIDE));
    const rows = Math.max(1, Math.ceil(count / perRow));
    [of.width, of.height] = [width * ratio, rows * SIDE * ratio];
    of.style.height = `${rows * SIDE}px`;
    const context = of.getContext("2d")!;
    context.scale(ratio, ratio);
    for (let i = 0; i < count; i++) {
      const [x, y] = [width - SIDE * ((i % perRow) + 1), SIDE * Math.floor(i / perRow)];
      const packet = packets?.[i];
      context.fillStyle = packet?.flow ? flowColour(result, packet.flow) : colour("--threshold");
      context.fillRect(x, y, SIDE - 1.5, SIDE - 1.5);
      if (!packet?.marked) continue;
      // A CE mark is a hole in the packet.
      context.fillStyle = colour("--panel");
      context.fillRect(x + 2.25, y + 2.25, SIDE - 6, SIDE - 6);
    }
  });
  return <canvas ref={canvas} role="img" aria-label={`${count} packets wait in the queue`} />;
}

function State({ arm, time }: { arm: Arm; time: number }) {
  const { link } = arm;
  const result = arm.shown.value?.result;
  if (!result) return null;
  const events = eventsOf(arm);
  const row = rowAt(result, "queue", "link", link.value, time);
  const packets = row === undefined ? 0 : numbers(result, "queue", "queue_packets")[row]!;
  const average = row === undefined ? Number.NaN : numbers(result, "queue", "average_packets")[row]!;
  const flows = [...grouped(result, "window", "flow").keys()].slice(0, MOST_CURVES);
  const until = eventsUntil(events, time);
  const sampled = row === undefined ? 0 : numbers(result, "queue", "time_s")[row]!;
  const waiting = waitingPackets(arm, sampled, packets);
  return (
    <div class="state">
      <Badge arm={arm} />
      <p>
        {packets} packets wait at {link.value}
        {Number.isFinite(average) && `; the average is ${rounded(average)} packets`}.
        {" "}{until} of {events.length} drops, marks and known reductions have happened.
      </p>
      <div class="packets"><Packets of={result} count={packets} packets={waiting} /></div>
      <p class="note">
        {waiting
          ? "Each square is a packet in the colour of its flow, grey for short connections; a hole is a CE mark. "
          : "Each square is a packet. The flows of the packets are known for queues with one line of packets. "}
        The head of the queue is on the right. Queue and windows are those of the last sample, at {sampled.toFixed(3)} s.
      </p>
      <div class="scroll" tabIndex={0} role="region" aria-label="Windows at this time">
        <table>
          <thead><tr><th scope="col">sender</th>{flows.map((name) => <th key={name} scope="col">{name}</th>)}</tr></thead>
          <tbody>
            {(["cwnd_bytes", "flight_bytes"] as const).map((column) => (
              <tr key={column}>
                <th scope="row">{column === "cwnd_bytes" ? "cwnd (kB)" : "in flight (kB)"}</th>
                {flows.map((name) => {
                  const at = rowAt(result, "window", "flow", name, time);
                  return <td key={name}>{at === undefined ? "–" : rounded(numbers(result, "window", column)[at]! / 1e3)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ol class="events">
        {events.slice(Math.max(0, until - LISTED), until).reverse().map((event, i) => (
          <li key={`${until} ${i}`} class={event.kind}>
            {event.time.toFixed(6)} s: {event.text}
            {event.meaning && <span class="note"> {event.meaning}</span>}
          </li>
        ))}
      </ol>
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
        The bar at the bottom moves the cursor of all figures over time. The events are drops and marks at {[...new Set(arms.value.map(({ link }) => link.value))].join(" and ")}.
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
  const position = time === undefined ? 0 : Math.round((STEPS * (time - low)) / (high - low));
  return (
    <div class="bar-of-time" role="group" aria-label="Time of the cursor">
      <button type="button" onClick={() => step(-1)} aria-label="Previous event" title="Previous drop or mark">◀</button>
      <button type="button" onClick={play} aria-pressed={playing.value}>{playing.value ? "Pause" : "Play"}</button>
      <button type="button" onClick={() => step(1)} aria-label="Next event" title="Next drop or mark">▶</button>
      <input
        type="range"
        min={0}
        max={STEPS}
        value={position}
        aria-label="Time of the cursor"
        aria-valuetext={time === undefined ? "none" : `${time.toFixed(3)} s`}
        onInput={(event) => show(low + ((high - low) * Number(event.currentTarget.value)) / STEPS)}
      />
      <output>{time === undefined ? "– s" : `${time.toFixed(3)} s`}</output>
      <button type="button" onClick={() => enlarge(2)} aria-label="Zoom in" title="Enlarge around the cursor">+</button>
      <button type="button" onClick={() => enlarge(0.5)} disabled={!zoom.value} aria-label="Zoom out">−</button>
      <button type="button" onClick={() => (zoom.value = undefined)} disabled={!zoom.value}>Whole run</button>
    </div>
  );
}

/** Simulated time that all figures share: the cursor and the visible range. */
import { signal } from "@preact/signals";
import { arms } from "./arm";
import { eventsOf, eventsUntil } from "./events";

/** Range of simulated time that the figures over time show, or undefined for the whole run. */
export const zoom = signal<[number, number] | undefined>(undefined);
/** Time of the cursor in s, or undefined. */
export const moment = signal<number | undefined>(undefined);
/** True while the cursor moves by itself. */
export const playing = signal(false);

/** Duration of the longest run. */
const end = (): number => Math.max(...arms.value.map(({ shown }) => shown.value?.result.manifest.simulated_s ?? 0));

/** Return the range of time that the figures show. */
export const visibleRange = (): [number, number] => zoom.value ?? [0, end()];

/** Move the cursor to the next event of any scenario, or to the previous one. */
export function step(direction: 1 | -1): void {
  const now = moment.value ?? -1;
  const next = arms.value.flatMap((arm) => {
    const all = eventsOf(arm);
    const until = eventsUntil(all, now);
    const event = direction > 0 ? all[until] : all.slice(0, until).findLast(({ time }) => time < now);
    return event ? [event.time] : [];
  });
  if (next.length > 0) show(direction > 0 ? Math.min(...next) : Math.max(...next));
}

/** Set the cursor, and move the visible range so that the cursor is inside it. */
export function show(time: number): void {
  moment.value = time;
  const range = zoom.value;
  if (range && (time < range[0] || time > range[1])) {
    const half = (range[1] - range[0]) / 2;
    zoom.value = [time - half, time + half];
  }
}

/** Enlarge or reduce the visible range around the cursor by a factor. */
export function enlarge(factor: number): void {
  const [low, high] = visibleRange();
  const centre = moment.value ?? (low + high) / 2;
  const half = (high - low) / 2 / factor;
  zoom.value = 2 * half >= end() ? undefined : [Math.max(0, centre - half), Math.min(end(), centre + half)];
}

/** Simulated time per second of real time while the cursor moves: the visible range in 20 s. */
const SECONDS = 20;

/** Move the cursor by itself until the end of the visible range, or stop it. */
export function play(): void {
  playing.value = !playing.value;
  let before = performance.now();
  const frame = (now: number) => {
    const [low, high] = visibleRange();
    if (!playing.value || high === 0) return;
    const at = moment.value ?? low;
    const next = (at >= high ? low : at) + ((now - before) / 1e3) * ((high - low) / SECONDS);
    before = now;
    moment.value = Math.min(next, high);
    if (next >= high) playing.value = false;
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

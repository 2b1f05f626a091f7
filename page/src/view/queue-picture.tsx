/** The waiting packets as squares: one line, or a row per flow. */
import { useEffect, useRef } from "preact/hooks";
import type { Queue, Packet } from "../results/waiting";
import type { Result } from "../results/result";
import { colour, flowColour, scheme } from "./colours";

/** Side of a packet, in pixels. */
const SIDE = 9;
/** Height of a row of a flow, and width of its label, in pixels. */
const ROW = 14;
const LABEL = 110;
/** Maximum number of rows; the last row has the packets of all other flows. */
const MOST_ROWS = 16;

/** Row of the picture. A packet is undefined if only its existence is known. */
type Row = { label: string; packets: (Packet | undefined)[] };

/** Return the rows of flows, with the number of their packets. */
export function rowsOf(flows: string[], packets: Packet[]): Row[] {
  const first = flows.length > MOST_ROWS ? flows.slice(0, MOST_ROWS - 1) : flows;
  const rows = new Map(first.map((flow): [string, Packet[]] => [flow, []]));
  const others: Packet[] = [];
  for (const packet of packets) (rows.get(packet.flow) ?? others).push(packet);
  const all = [...rows].map(([label, of]): Row => ({ label, packets: of }));
  return flows.length > first.length ? [...all, { label: `${flows.length - first.length} other flows`, packets: others }] : all;
}

/** Draw a packet. A CE mark is a hole in the packet. */
function square(context: CanvasRenderingContext2D, result: Result, packet: Packet | undefined, x: number, y: number): void {
  context.fillStyle = packet ? flowColour(result, packet.flow) : colour("--threshold");
  context.fillRect(x, y, SIDE - 1.5, SIDE - 1.5);
  if (!packet?.marked) return;
  context.fillStyle = colour("--panel");
  context.fillRect(x + 2.25, y + 2.25, SIDE - 6, SIDE - 6);
}

/** Draw one line of packets, which continues in the next row. */
function drawLine(context: CanvasRenderingContext2D, result: Result, packets: Row["packets"], width: number): void {
  const perRow = Math.max(1, Math.floor(width / SIDE));
  packets.forEach((packet, i) => square(context, result, packet, width - SIDE * ((i % perRow) + 1), SIDE * Math.floor(i / perRow)));
}

function drawRows(context: CanvasRenderingContext2D, result: Result, rows: Row[], width: number): void {
  const perRow = Math.max(1, Math.floor((width - LABEL) / SIDE) - 2);
  context.font = "11px system-ui, sans-serif";
  context.textBaseline = "middle";
  rows.forEach(({ label, packets }, i) => {
    context.fillStyle = colour("--muted");
    context.fillText(`${label.slice(0, 13)}: ${packets.length}`, 0, ROW * (i + 0.5));
    packets.slice(0, perRow).forEach((packet, n) => square(context, result, packet, width - SIDE * (n + 1), ROW * i + 3));
    context.fillStyle = colour("--muted");
    if (packets.length > perRow) context.fillText("…", LABEL, ROW * (i + 0.5));
  });
}

/** Show the queue, the head on the right. `flows` has the flows of the rows, or is undefined for one line. */
export function QueuePicture({ of: result, queue, flows }: { of: Result; queue: Queue; flows: string[] | undefined }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const unknown = Math.max(0, queue.count - queue.packets.length);
  const packets = [...queue.packets, ...new Array<undefined>(unknown).fill(undefined)];
  const rows = flows && queue.packets.length > 0 ? rowsOf(flows, queue.packets) : undefined;
  useEffect(() => {
    void scheme.value;
    const of = canvas.current!;
    const ratio = devicePixelRatio;
    const width = of.parentElement!.clientWidth;
    const height = rows ? ROW * rows.length : SIDE * Math.max(1, Math.ceil(packets.length / Math.max(1, Math.floor(width / SIDE))));
    [of.width, of.height] = [width * ratio, height * ratio];
    of.style.height = `${height}px`;
    const context = of.getContext("2d")!;
    context.scale(ratio, ratio);
    if (rows) drawRows(context, result, rows, width);
    else drawLine(context, result, packets, width);
  });
  const counts = rows ? `: ${rows.map((row) => `${row.label} ${row.packets.length}`).join(", ")}` : "";
  return <canvas ref={canvas} role="img" aria-label={`${queue.count} packets wait in the queue${counts}`} data-packets={queue.packets.length} />;
}

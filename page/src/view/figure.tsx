/** A figure: a uPlot chart that is created once and redrawn with new data. */
import { effect, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import { moment, zoom } from "../state/time";
import { colour, scheme } from "./colours";
import { saveImage } from "./save";

/** Curve of a figure. */
export type Curve = {
  label: string;
  colour: string;
  /** A line, a line of steps, bars, or points. The default is a line. */
  shape?: "line" | "steps" | "bars" | "points";
  width?: number;
  dash?: number[];
  /** True if the curve is drawn against the right axis. */
  right?: boolean;
};

/** Content of a figure. The first array of `data` has the positions on the horizontal axis. */
export type Drawing = {
  curves: Curve[];
  data: uPlot.AlignedData;
  /** Labels of the axes, with units. */
  x: string;
  y: string;
  right?: string;
  /** True if the horizontal axis is simulated time. */
  overTime: boolean;
  /** Pairs of curves, by their numbers counted from 1, between which the area is filled. */
  bands?: [number, number][];
  /** Format of the values. */
  format?: (value: number) => string;
  /** Format of the positions on the horizontal axis. */
  formatX?: (value: number) => string;
  /** Range of the vertical axis; default: from 0 to the maximum. */
  range?: [number, number];
  /** Range of the horizontal axis; default: from the first to the last position. */
  rangeX?: [number, number];
};

const plain = (value: number) => String(Number(value.toPrecision(4)));
const HEIGHT = 210;

function options(
  drawing: Drawing,
  width: number,
  onCursor: (u: uPlot) => void,
  onDraw: () => void,
): uPlot.Options {
  const axis = { stroke: colour("--muted"), grid: { stroke: colour("--grid"), width: 1 }, ticks: { show: false } };
  const format = drawing.format ?? plain;
  const axes: uPlot.Axis[] = [
    { ...axis, label: drawing.x, labelSize: 20, size: 28, labelFont: FONT, font: FONT },
    { ...axis, label: drawing.y, labelSize: 20, size: 50, labelFont: FONT, font: FONT },
  ];
  if (drawing.right) {
    axes.push({ ...axis, side: 1, scale: "right", label: drawing.right, labelSize: 20, size: 44, grid: { show: false }, labelFont: FONT, font: FONT });
  }
  return {
    width,
    height: HEIGHT,
    legend: { live: true },
    cursor: {
      ...(drawing.overTime ? { sync: { key: "time", setSeries: false } } : {}),
      drag: { x: true, y: false, setScale: !drawing.overTime },
      points: { size: 6 },
    },
    scales: {
      x: { time: false, range: (_u, low, high) => (drawing.overTime && zoom.peek()) || drawing.rangeX || [low, high] },
      y: { range: (_u, _low, high) => drawing.range ?? [0, (high || 1) * 1.05] },
      right: { range: (_u, _low, high) => [0, (high || 1) * 1.05] },
    },
    axes,
    bands: (drawing.bands ?? []).map((series) => ({ series, fill: colour("--band") })),
    series: [
      { label: drawing.x, value: (_u, v) => (v == null ? "–" : (drawing.formatX ?? plain)(v)) },
      ...drawing.curves.map((curve) => ({
        label: curve.label,
        stroke: curve.colour,
        width: curve.width ?? 1.5,
        ...(curve.right ? { scale: "right" } : {}),
        ...(curve.dash ? { dash: curve.dash } : {}),
        ...shape(curve),
        value: (_u: uPlot, v: number | null) => (v == null ? "–" : format(v)),
      })),
    ],
    hooks: {
      setCursor: [onCursor],
      draw: [onDraw],
      setSelect: [
        (u) => {
          if (drawing.overTime && u.select.width > 4) {
            zoom.value = [u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x")];
            u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          }
        },
      ],
      ready: [
        (u) => {
          if (drawing.overTime) u.over.addEventListener("dblclick", () => (zoom.value = undefined));
        },
      ],
    },
  };
}

const FONT = "12px system-ui, sans-serif";

function shape(curve: Curve): Partial<uPlot.Series> {
  switch (curve.shape) {
    case "steps":
      return { paths: uPlot.paths.stepped!({ align: 1 }), points: { show: false } };
    case "bars":
      return { paths: uPlot.paths.bars!({ size: [0.9, 20], align: 1 }), fill: curve.colour, points: { show: false } };
    case "points":
      return { paths: () => null, points: { show: true, size: curve.width ?? 3, fill: curve.colour, width: 0 } };
    default:
      return { points: { show: false }, spanGaps: true };
  }
}

/** Text that changes if a chart must be created again instead of receiving new data. */
const structure = (drawing: Drawing): string =>
  JSON.stringify({ ...drawing, data: undefined, scheme: scheme.value });

/** Show a figure with a heading, a sentence that explains it, and buttons that save it. */
export function Figure(props: { title: string; note: string; wide?: boolean; draw: () => Drawing | undefined; children?: preact.ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | undefined>(undefined);
  const line = useRef<HTMLDivElement | undefined>(undefined);
  const draw = useRef(props.draw);
  draw.current = props.draw;
  const [empty, setEmpty] = useState(true);
  useEffect(() => {
    let drawn = "";
    let overTime = false;
    let isEmpty = true;
    // A figure outside the window is drawn when the reader scrolls to it.
    const visible = signal(false);
    const watcher = new IntersectionObserver(
      (entries) => (visible.value = entries.some((entry) => entry.isIntersecting)),
      { rootMargin: "150px" },
    );
    watcher.observe(place.current!.parentElement!);
    const placeLine = () => {
      const [u, at] = [chart.current, moment.value];
      if (!u || !line.current) return;
      const left = at === undefined || !overTime ? -1 : u.valToPos(at, "x");
      line.current.hidden = left < 0 || left > u.over.clientWidth;
      line.current.style.left = `${left}px`;
    };
    const onCursor = (u: uPlot) => {
      // The chart under the pointer sets the time; the others only follow.
      if (overTime && u.cursor.left != null && u.cursor.left >= 0 && u.over.matches(":hover")) {
        moment.value = u.posToVal(u.cursor.left, "x");
      }
    };
    const stopDrawing = effect(() => {
      if (!visible.value && !isEmpty) return;
      const drawing = draw.current();
      isEmpty = !drawing;
      setEmpty(isEmpty);
      if (!drawing || !place.current || !visible.value) return;
      overTime = drawing.overTime;
      const next = structure(drawing);
      if (chart.current && next === drawn) {
        chart.current.setData(drawing.data);
      } else {
        chart.current?.destroy();
        chart.current = new uPlot(options(drawing, place.current.clientWidth, onCursor, placeLine), drawing.data, place.current);
        line.current = document.createElement("div");
        line.current.className = "moment";
        chart.current.over.append(line.current);
        drawn = next;
      }
    });
    const stopZoom = effect(() => {
      void zoom.value;
      if (chart.current && overTime) chart.current.setData(chart.current.data, true);
    });
    const stopMoment = effect(placeLine);
    const resize = new ResizeObserver(() => {
      const width = place.current?.clientWidth;
      if (width && chart.current && chart.current.width !== width) chart.current.setSize({ width, height: HEIGHT });
      placeLine();
    });
    resize.observe(place.current!);
    return () => {
      stopDrawing();
      stopZoom();
      stopMoment();
      resize.disconnect();
      watcher.disconnect();
      chart.current?.destroy();
      chart.current = undefined;
    };
  }, []);
  return (
    <section class={`figure ${props.wide ? "wide" : ""}`} aria-label={props.title} hidden={empty}>
      <header>
        <h2>{props.title}</h2>
        {props.children}
        <button type="button" class="quiet" onClick={() => chart.current && saveImage(chart.current, props.title, "png")} aria-label={`Save the figure ${props.title} as PNG`}>PNG</button>
        <button type="button" class="quiet" onClick={() => chart.current && saveImage(chart.current, props.title, "svg")} aria-label={`Save the figure ${props.title} as SVG`}>SVG</button>
      </header>
      <p class="note">{props.note}</p>
      <div ref={place} class="chart" />
    </section>
  );
}

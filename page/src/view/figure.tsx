/** A figure: a heading, and a chart of each arm. */
import { computed } from "@preact/signals";
import { useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { arms, type Arm } from "../state/arm";
import { active } from "../state/laboratory";
import { Badge } from "./badge";
import { Chart } from "./chart";
import type { Drawing } from "./drawing";
import { saveImage } from "./save";

/** Show a figure with a heading, a sentence that explains it, and buttons that save its chart. */
export function Figure(props: { title: string; note: string; wide?: boolean; draw: (arm: Arm) => Drawing | undefined; children?: preact.ComponentChildren }) {
  const all = arms.value;
  const charts = useRef(new Map<string, uPlot>());
  const [filled, setFilled] = useState<Record<string, boolean>>({});
  const drawings = useMemo(() => all.map((arm) => computed(() => props.draw(arm))), [all]);
  const save = (format: "png" | "svg") => {
    const { name } = active.value;
    const chart = charts.current.get(name);
    if (chart) saveImage(chart, all.length > 1 ? `${props.title}, ${name}` : props.title, format);
  };
  return (
    <section class={`figure ${props.wide ? "wide" : ""}`} aria-label={props.title} hidden={!all.some(({ name }) => filled[name])}>
      <header>
        <h2>{props.title}</h2>
        {props.children}
        <button type="button" class="quiet" onClick={() => save("png")} aria-label={`Save the figure ${props.title} as PNG`}>PNG</button>
        <button type="button" class="quiet" onClick={() => save("svg")} aria-label={`Save the figure ${props.title} as SVG`}>SVG</button>
      </header>
      <p class="note">{props.note}</p>
      <div class="beside">
        {all.map((arm, i) => (
          <div key={arm.name}>
            <Badge arm={arm} />
            {all.length > 1 && filled[arm.name] === false && <p class="note">Scenario {arm.name} has no data for this figure.</p>}
            <Chart
              drawing={drawings[i]!}
              beside={drawings.filter((one) => one !== drawings[i])}
              setEmpty={(empty) => setFilled((before) => (before[arm.name] === !empty ? before : { ...before, [arm.name]: !empty }))}
              setChart={(chart) => (chart ? charts.current.set(arm.name, chart) : charts.current.delete(arm.name))}
            />
          </div>
        ))}
      </div>
    </section>
  );
}

/** The page: the answer, the controls, and the figures. */
import { useEffect, useState } from "preact/hooks";
import { arms } from "../state/arm";
import * as state from "../state/laboratory";
import { seeds, version } from "../state/shared";
import { lessonOf } from "../lessons/lesson";
import { Answer } from "./answer";
import { Comparison } from "./comparison";
import { Controls } from "./controls";
import { Figure } from "./figure";
import { Flows } from "./flows";
import { delays } from "./panes/delays";
import { goodput } from "./panes/goodput";
import { meanDelays } from "./panes/mean-delays";
import { packetDelays } from "./panes/packet-delays";
import { queue } from "./panes/queue";
import { signals } from "./panes/signals";
import { times } from "./panes/times";
import { roundTrips, sequence } from "./panes/traced";
import { windows } from "./panes/windows";
import { LessonPanel } from "./lessons";
import { TimeBar, TimeMachine } from "./time-machine";
import { Copy, Open, openFile, Tables } from "./share";

/** Width below which the controls are folded between the answer and the figures. */
const NARROW = "(max-width: 760px)";

function Choose(props: { label: string; value: string; all: string[]; choose: (name: string) => void }) {
  if (props.all.length < 2) return null;
  return (
    <label class="choose">
      {props.label}{" "}
      <select value={props.value} onChange={(event) => props.choose(event.currentTarget.value)}>
        {props.all.slice(0, 100).map((name) => <option key={name} value={name}>{name}</option>)}
      </select>
    </label>
  );
}

function Settings() {
  const { link, links } = state.active.value;
  return (
    <div class="settings">
      <Choose label="Link" value={link.value} all={links.value} choose={state.showLink} />
      <label class="choose">
        Seeds{" "}
        <select
          value={seeds.value}
          onChange={(event) => state.setSeeds(Number(event.currentTarget.value))}
        >
          {[1, 2, 5, 10, 20].map((n) => <option key={n} value={n}>{n}</option>)}
        </select>
      </label>
      {state.comparing.value
        ? <button type="button" onClick={state.close}>Close B</button>
        : <button type="button" onClick={state.compare} title="Open a second scenario B beside this one, as a copy of it">Compare with this setting</button>}
    </div>
  );
}

/** Choose the scenario that the controls change. */
function ChooseArm() {
  return (
    <fieldset class="arms">
      <legend>Controls, files and copies are those of</legend>
      {arms.value.map((arm) => (
        <label key={arm.name}>
          <input type="radio" name="arm" value={arm.name} checked={state.active.value === arm} onChange={() => state.choose(arm.name)} />{" "}
          <b class={`badge ${arm.name.toLowerCase()}`}>{arm.name}</b> {state.label(arm)}
        </label>
      ))}
    </fieldset>
  );
}

function Progress() {
  const share = state.progress.value;
  const visible = share !== undefined && share < 1;
  return (
    <div class="progress" hidden={!visible}>
      <progress value={share ?? 0} max={1} aria-label="Progress of the run" />
      <button type="button" onClick={state.cancel}>Cancel</button>
    </div>
  );
}

function Problem() {
  return (
    <>
      {arms.value.filter(({ problem }) => problem.value).map(({ name, problem }) => (
        <p key={name} class="error" role="alert" id={name === "A" ? "problem" : "problem-b"}>
          {state.comparing.value && `${name}: `}
          {problem.value!.text}
        </p>
      ))}
    </>
  );
}

function Warnings() {
  const all = arms.value.flatMap(({ name, shown }) =>
    (shown.value?.result.manifest.warnings ?? []).map(({ text }) => (state.comparing.value ? `${name}: ${text}` : text)));
  if (all.length === 0) return null;
  return (
    <details class="warnings">
      <summary>{all.length === 1 ? "One warning" : `${all.length} warnings`}</summary>
      <ul>{all.map((warning) => <li key={warning}>{warning}</li>)}</ul>
    </details>
  );
}

function Figures() {
  const link = [...new Set(arms.value.map((arm) => arm.link.value))].join(" or ");
  const { flow, flows } = state.active.value;
  const ofFlow = (!state.comparing.value && flow.value) || "the selected flow";
  const oneSeed = seeds.value > 1 ? ", in the run of the first seed" : "";
  return (
    <div class="figures">
      <Figure title="Queue" note={`Packets that wait at ${link}. Dashed lines are thresholds. Drag across a figure to enlarge a part of the run.`} draw={queue} />
      <Figure title="Queueing delays" note={`Share of all packets at ${link} that wait at most the given time.`} draw={delays} />
      <Figure wide title="Delay of every packet" note={`Each dot is a packet that waited at ${link}${oneSeed}. The packets of ${ofFlow} have a colour of their own.`} draw={packetDelays} />
      <Figure title="Windows" note={`Congestion window of each sender${seeds.value > 1 ? ", and the sum of all" : ""}. A small window after a drop or a mark is TCP’s response.`} draw={windows} />
      <Figure title="Goodput" note="Acknowledged data per interval, of flows with one connection." draw={goodput} />
      <Figure title="Drops and marks" note={`Packets that the queue of ${link} drops or marks.`} draw={signals} />
      <Figure title="Delay over time" note={`Mean queueing delay at ${link} of the packets in each of 120 intervals.`} draw={meanDelays} />
      <Figure title="Times of transfers" note="Share of the transfers, requests, pages or pings that finish within the given time." draw={times} />
      <Figure title="Segments of one flow" note={`Time–sequence plot${oneSeed}: each dot is a segment; the distance to the line is the data in flight.`} draw={sequence}>
        <Choose label="Flow" value={flow.value} all={flows.value} choose={state.showFlow} />
      </Figure>
      <Figure title="Round-trip times" note={`Measured by the sender of ${ofFlow}, for each acknowledged segment${oneSeed}.`} draw={roundTrips} />
      <TimeMachine />
      <Flows />
    </div>
  );
}

/** Show the page. */
export function App() {
  const [dragged, setDragged] = useState(false);
  useEffect(() => {
    const over = (event: DragEvent) => {
      event.preventDefault();
      setDragged(true);
    };
    const drop = (event: DragEvent) => {
      event.preventDefault();
      setDragged(false);
      const [file] = event.dataTransfer?.files ?? [];
      if (file) void openFile(file);
    };
    const leave = (event: DragEvent) => !event.relatedTarget && setDragged(false);
    addEventListener("dragover", over);
    addEventListener("drop", drop);
    addEventListener("dragleave", leave);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("drop", drop);
      removeEventListener("dragleave", leave);
    };
  }, []);
  const { title, origin } = state.active.value;
  const comparing = state.comparing.value;
  return (
    <div class={`layout ${state.busy.value ? "busy" : ""} ${comparing ? "comparing" : ""}`} data-busy={state.busy.value}>
      <header class="top">
        <h1>aqmlab</h1>
        <Open />
        <Copy />
      </header>
      <main>
        <div class="first">
          {!lessonOf(origin.value) && !comparing && <p class="title">{title.value}</p>}
          <LessonPanel />
          <Problem />
          {comparing ? <Comparison a={arms.value[0]!} b={arms.value[1]!} /> : <Answer arm={state.active.value} />}
          <Progress />
          <Settings />
          <Warnings />
        </div>
        <section class="controls" aria-label="Controls">
          <div class="panel">
            {comparing && <ChooseArm />}
            <details class="drawer" open={!matchMedia(NARROW).matches}>
              <summary>Controls</summary>
              <Controls />
            </details>
          </div>
        </section>
        <div class="rest">
          <Figures />
          <Tables />
          <p class="note">
            aqmlab {version.value}. The simulator runs in this page, and its results are those of the command,
            digit for digit.
          </p>
          <TimeBar />
        </div>
      </main>
      {dragged && <div class="dropzone">Drop a scenario file (TOML or JSON)</div>}
    </div>
  );
}

/** Worker in which the simulator runs, so that the page stays responsive. */
import { Simulator, SimulatorError, type Request } from "./module";
import type { Answer, Call } from "./client";
import { plainResult } from "../results/plain";
import type { Result } from "../results/result";

/** Maximum number of events of a run in the page, which takes about a minute. */
const MOST_EVENTS = 200e6;
/** Maximum memory of a run in the page. The memory of the module has a maximum of 1 GiB. */
const MOST_MEMORY = "700 MB";
/** Number of events from which the number of events of the whole run is extrapolated. */
const ENOUGH = 2e6;

let module: WebAssembly.Module;
let simulator: Simulator;
let current = 0;

const post = (answer: Answer, transfer: Transferable[] = []) => postMessage(answer, { transfer });

/** Report the progress of a run, and end a run that would have too many events. */
function progress(share: number, events: number) {
  post({ id: current, progress: share });
  const expected = events / share;
  if (events >= ENOUGH && expected > MOST_EVENTS) {
    const text =
      `This run would have about ${Math.round(expected / 1e6)} million events, and the page runs at most ` +
      `${MOST_EVENTS / 1e6} million. Shorten the duration or lower the rate, or run the scenario with the ` +
      "command aqmlab.";
    throw new SimulatorError("duration", text);
  }
}

const start = async () => (simulator = await Simulator.instantiate(module, progress));

function execute(request: Request): [Result, Transferable[]] {
  const of = plainResult(simulator.run({ ...request, limits: { events: MOST_EVENTS, memory: MOST_MEMORY } }));
  const columns = Object.values(of.tables).flatMap((table) => Object.values(table.columns));
  return [of, [...columns.map((column) => column.values.buffer), ...Object.values(of.captures).map((file) => file.buffer)]];
}

async function answer(call: Call) {
  if (call.kind === "start") {
    module = call.module;
    await start();
    return;
  }
  current = call.id;
  try {
    if (call.kind === "describe") post({ id: call.id, value: simulator.describe() });
    else if (call.kind === "check") post({ id: call.id, value: simulator.check(call.request) });
    else {
      const [value, transfer] = execute(call.request);
      post({ id: call.id, value }, transfer);
    }
  } catch (e) {
    const known = e instanceof SimulatorError;
    const text = known ? e.message : simulator.panicMessage() || String(e);
    const advice = "The page has started the simulator again; please report the scenario.";
    post({ id: call.id, error: { path: known ? e.path : "", text: known ? text : `${text}. ${advice}` } });
    // An exception may have left the instance in the middle of a run.
    await start();
  }
}

// Calls are answered one after the other, because the start of an instance is asynchronous.
let last = Promise.resolve();
onmessage = (event: MessageEvent<Call>) => {
  last = last.then(() => answer(event.data));
};

/** State of the page: its scenarios, the link that contains them, and the choices of the reader. */
import { batch, computed, effect, signal } from "@preact/signals";
import { Client, fetchModule } from "../simulator/client";
import { fromFragment, toFragment, type Linked, type Setting } from "../scenario/link";
import { ready } from "../scenario/ready";
import { Schemas } from "../scenario/schema";
import { differences } from "../scenario/toml";
import { Arm, arms } from "./arm";
import { columns, pages, schemas, seeds, version } from "./shared";

/** Scenario with which the page begins: the one of the README's picture. */
const FIRST = "rfc7928";
/** Number of seeds with which a comparison begins, so that its differences have an interval. */
const SEEDS_OF_COMPARISON = 5;

const chosen = signal<"A" | "B">("A");
/** Arm that the controls change, and to which copies and files apply. */
export const active = computed(() => arms.value.find((arm) => arm.name === chosen.value) ?? arms.value[0]!);
/** True if the page compares two scenarios. */
export const comparing = computed(() => arms.value.length > 1);
/** Keys in which the scenarios A and B differ. */
export const comparedKeys = computed(() => {
  const [first, second] = arms.value;
  return first && second ? differences(first.written.value, second.written.value) : [];
});
/** Number of different keys up to which their values are the label of a scenario. */
const FEW_KEYS = 2;

/** Return what distinguishes a scenario from the other one: its values, its name or its title. */
export function label(arm: Arm): string {
  const keys = comparedKeys.value;
  const values = keys.map(([, a, b]) => (arm.name === "A" ? a : b));
  if (keys.length > 0 && keys.length <= FEW_KEYS && values.join().length < 40) return values.join(", ");
  const isReady = ready(arm.origin.value) && arms.value.some(({ origin }) => origin.value !== arm.origin.value);
  return isReady ? arm.origin.value : arm.title.value || "your own";
}

export const busy = computed(() => arms.value.some((arm) => arm.busy.value));
/** Completed share of the runs in progress, or undefined. */
export const progress = computed(() => {
  const shares = arms.value.map((arm) => arm.progress.value).filter((share) => share !== undefined);
  return shares.length > 0 ? Math.min(...shares) : undefined;
});

let module: WebAssembly.Module;
/** Fragment that the page wrote into the address bar. */
let fragment = "";

/** Load the simulator, and open the scenarios of the link, or the first one. */
export async function start(): Promise<void> {
  const [first] = arms.value;
  try {
    module = await fetchModule();
    const client = new Client(module);
    first!.start(client);
    const description = await client.describe();
    batch(() => {
      schemas.value = new Schemas(description.schema);
      version.value = description.version;
      columns.value = description.columns;
      pages.value = description.pages;
    });
    effect(() => {
      const linked = linkedState();
      if (linked) void writeLink(linked);
    });
    await openLink();
    addEventListener("hashchange", () => {
      if (location.hash.slice(1) !== fragment) void openLink();
    });
  } catch (e) {
    first!.problem.value = { path: "", text: e instanceof Error ? e.message : String(e) };
  }
}

/** Open the scenarios of the link in the address bar, or the first scenario. */
async function openLink(): Promise<void> {
  const [first] = arms.value;
  try {
    const linked = await fromFragment(location.hash);
    if (!linked) return await first!.openNamed(FIRST);
    seeds.value = Math.min(Math.max(1, Math.trunc(linked.seeds ?? 1)), 30);
    if (!linked.second) close();
    const second = linked.second && (arms.value[1] ?? addArm());
    const open = (arm: Arm, of: Setting) => arm.open(JSON.stringify(of.scenario), "json", of.name ?? "");
    await Promise.all([open(first!, linked), second && open(second, linked.second!)]);
  } catch (e) {
    await first!.openNamed(FIRST);
    first!.problem.value = { path: "", text: e instanceof Error ? e.message : String(e) };
  }
}

function addArm(): Arm {
  const second = new Arm("B");
  second.start(new Client(module));
  arms.value = [arms.value[0]!, second];
  return second;
}

/** Open the arm B as a copy of A, and let the controls change B. */
export function compare(): void {
  const [first] = arms.value;
  batch(() => {
    addArm().copy(first!);
    chosen.value = "B";
    setSeeds(seeds.value === 1 ? SEEDS_OF_COMPARISON : seeds.value);
  });
}

/** Close the arm B. */
export function close(): void {
  const [first, second] = arms.value;
  if (!second) return;
  second.end();
  batch(() => {
    arms.value = [first!];
    chosen.value = "A";
  });
}

/** Let the controls change the arm with the given name. */
export function choose(name: "A" | "B"): void {
  chosen.value = name;
}

const rerunAll = () => arms.value.forEach((arm) => void arm.rerun());

/** Run every scenario with the given number of seeds. */
export function setSeeds(count: number): void {
  seeds.value = count;
  rerunAll();
}

/** Show the queue of another link, in every arm that has the link. */
export function showLink(name: string): void {
  for (const arm of arms.value.filter(({ links }) => links.value.includes(name))) {
    arm.chosenLink.value = name;
    void arm.rerun();
  }
}

/** Show the segments of another flow, in every arm that has the flow. */
export function showFlow(name: string): void {
  for (const arm of arms.value.filter(({ flows }) => flows.value.includes(name))) {
    arm.chosenFlow.value = name;
    void arm.rerun();
  }
}

/** Cancel the current runs. */
export const cancel = (): void => arms.value.forEach((arm) => arm.cancel());

/** Return the settings whose results the page shows, or undefined before the first results. */
function linkedState(): Linked | undefined {
  const settings = arms.value.map((arm) => arm.shown.value && { scenario: arm.shown.value.written, name: arm.origin.value });
  if (!settings.every((of) => of !== undefined)) return undefined;
  const [first, second] = settings;
  return { ...first!, seeds: seeds.value, second };
}

async function writeLink(linked: Linked): Promise<void> {
  const next = await toFragment(linked);
  if (linked.scenario !== arms.value[0]!.shown.value?.written) return;
  fragment = next;
  history.replaceState(null, "", `#${fragment}`);
}

/** Return the link to the current settings. */
export async function currentLink(): Promise<string> {
  const [first, second] = arms.value.map((arm): Setting => ({ scenario: arm.written.value, name: arm.origin.value }));
  const linked = await toFragment({ ...first!, seeds: seeds.value, second });
  return `${location.href.replace(/#.*/, "")}#${linked}`;
}

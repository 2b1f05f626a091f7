/** All controls of the scenario: the important keys first, the others folded. */
import { useState } from "preact/hooks";
import { inBase, parse } from "../scenario/quantity";
import type { Field } from "../scenario/schema";
import type { JsonTable } from "../simulator/client";
import { active } from "../state/laboratory";
import { schemas } from "../state/shared";
import { Control, concerns } from "./control";

/** Keys of the buffer, which every queue has. The keys of the AQM are shown before them. */
const BUFFER = ["limit", "limit_counts", "drop_from", "mark_at", "ecn"];
/** Number of keys of the AQM that are important. */
const FIRST_KEYS = 4;
/** Maximum number of links and flows whose important keys are shown. */
const MOST = 4;

/** Path of an important key, and the label of its control. */
type Important = [path: string, label: string];

function ofQueue(path: string, name: string): Important[] {
  const field = schemas.value?.field(active.value.normalized.value, path);
  if (!field || field.type !== "table") return [];
  const keys = schemas.value!.children(field);
  const simple = keys.filter((key) => !["table", "list"].includes(key.type) && key.value !== null);
  const aqm = simple.filter((key) => !BUFFER.includes(key.path.split(".").pop()!)).slice(0, FIRST_KEYS);
  const limit = keys.filter((key) => key.path.endsWith(".limit"));
  return [[path, name], ...[...aqm, ...limit].map((key): Important => [key.path, key.path.split(".").pop()!.replaceAll("_", " ")])];
}

/** Return the names and indices of the links with the lowest rates, which can be bottlenecks. */
function slowest(links: JsonTable[]): [string, number][] {
  const bps = (link: JsonTable) => {
    const rate = parse(String(link["rate"]));
    return rate ? inBase(rate) : Infinity;
  };
  const lowest = Math.min(...links.map(bps));
  const all = links.map((link, i): [string, number] => [`${String(link["from"])}>${String(link["to"])}`, i]);
  return all.filter(([, i]) => bps(links[i]!) === lowest).slice(0, MOST);
}

/** Return true if the scenario sets the direction from right to left. */
const isAsymmetric = () => "reverse" in ((active.value.written.value["network"] ?? {}) as JsonTable);

const reverse = (): Important[] => [
  ["network.reverse.rate", "rate right>left"],
  ...ofQueue("network.reverse.queue", "queue right>left"),
];

function important(scenario: JsonTable): Important[] {
  const network = scenario["network"] as JsonTable;
  const links = (network["links"] ?? []) as JsonTable[];
  const ofNetwork: Important[] =
    network["kind"] === "dumbbell"
      ? [
          ["network.rate", "rate of the bottleneck"],
          ["network.delay", "delay of the bottleneck"],
          ...ofQueue("network.queue", "queue"),
          ...(isAsymmetric() ? reverse() : []),
        ]
      : slowest(links).flatMap(([link, i]): Important[] => [
          [`network.links.${i}.rate`, `rate ${link}`],
          ...ofQueue(`network.links.${i}.queue`, `queue ${link}`),
        ]);
  const flows = (scenario["flows"] as JsonTable[]).slice(0, MOST);
  const counts = flows.map((flow, i): Important => [`flows.${i}.count`, `number of ${String(flow["name"]).replace(/-?\{.*\}/, "")}`]);
  return [...ofNetwork, ...counts, ["tcp.congestion", "congestion control"], ["tcp.ecn.mode", "ECN"], ["duration", "duration"], ["seed", "seed"]];
}

/** Show the fields of a table, and its inner tables folded. */
function Fields({ fields }: { fields: Field[] }) {
  const isOpen = (field: Field) => field.type === "table" || field.type === "list";
  return (
    <>
      {fields.filter((field) => !isOpen(field) || field.choices.length > 0).map((field) => <Control key={field.path} field={field} />)}
      {fields.filter(isOpen).map((field) => <Folded key={field.path} field={field} />)}
    </>
  );
}

function Folded({ field }: { field: Field }) {
  const [open, setOpen] = useState(false);
  const children = schemas.value!.children(field);
  if (children.length === 0) return null;
  const problem = active.value.problem.value;
  const wrong = problem !== undefined && concerns(field.path, problem.path);
  return (
    <details open={open || wrong} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>{field.name}</summary>
      {(open || wrong) && <div class="inner"><Fields fields={children.slice(0, 40)} /></div>}
    </details>
  );
}

/** Show all controls. */
export function Controls() {
  const [all, setAll] = useState(false);
  const of = schemas.value;
  const { name, normalized, opened, problem } = active.value;
  if (!of || !("flows" in normalized.value)) return null;
  const first = important(normalized.value).flatMap(([path, label]) => {
    const field = of.field(normalized.value, path);
    return field ? [{ field, label }] : [];
  });
  const error = problem.value?.path ?? "";
  const beside = first.some(({ field }) => concerns(field.path, error));
  return (
    <form onSubmit={(event) => event.preventDefault()} aria-label="Scenario" key={`${name} ${opened.value}`}>
      {first.map(({ field, label }) => <Control key={field.path} field={field} label={label} />)}
      <details open={all || (error !== "" && !beside)} onToggle={(event) => setAll(event.currentTarget.open)}>
        <summary>All keys of the scenario</summary>
        {(all || (error !== "" && !beside)) && <div class="inner"><Fields fields={of.fields(normalized.value)} /></div>}
      </details>
    </form>
  );
}

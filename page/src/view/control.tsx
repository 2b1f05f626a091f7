/** One control: a slider with a text, a choice, or a check box, with its help and its error. */
import { useEffect, useRef, useState } from "preact/hooks";
import { parse, rounded } from "../scenario/quantity";
import { bounds, type Field } from "../scenario/schema";
import { tomlValue } from "../scenario/toml";
import type { Json, JsonTable } from "../simulator/client";
import { active } from "../state/laboratory";

/** The slider reaches from 1/16 to 16 times the value with which the scenario was opened. */
const REACH = 16;
const STEPS = 200;

const isNumeric = (field: Field) => ["number", "integer", "quantity"].includes(field.type);

/** Return the number of a value, and the unit that follows it. */
function split(field: Field): { number: number; unit: string } | undefined {
  if (typeof field.value === "number") return { number: field.value, unit: "" };
  return typeof field.value === "string" ? parse(field.value) : undefined;
}

/** Return true if the values of a field are whole numbers. */
const isWhole = (field: Field, unit: string) => field.type === "integer" || /^(packet|segment)s?$/.test(unit);

function show(value: Json): string {
  if (value === null) return "";
  return typeof value === "string" ? value : tomlValue(value);
}

/** Return the value that a text stands for: a number for number fields, and a text otherwise. */
function typed(field: Field, text: string): Json {
  if (text.trim() === "" && field.nullable) return null;
  const number = Number(text);
  return (field.type === "number" || field.type === "integer") && text.trim() !== "" && Number.isFinite(number) ? number : text.trim();
}

function Slider({ field, label }: { field: Field; label: string }) {
  const now = split(field);
  // The range of the slider stays the same while the reader moves it.
  const start = useRef({ key: "", number: 1 });
  const key = `${active.value.name} ${active.value.opened.value} ${field.path} ${now?.unit ?? ""}`;
  if (start.current.key !== key) start.current = { key, number: now?.number || 0 };
  if (!now || !(start.current.number > 0)) return null;
  const [low, high] = now.unit === "" || /^(packet|segment)/.test(now.unit) ? bounds(field.range) : [-Infinity, Infinity];
  const whole = isWhole(field, now.unit);
  const minimum = Math.max(start.current.number / REACH, low > 0 ? low : 0, whole ? 1 : 0);
  const maximum = Math.min(start.current.number * REACH, high);
  const span = Math.log(maximum / minimum);
  if (!(span > 0)) return null;
  const position = (STEPS * Math.log(Math.max(now.number, minimum) / minimum)) / span;
  const at = (step: number) => {
    const number = minimum * Math.exp((span * step) / STEPS);
    return whole ? Math.round(number) : Number(rounded(number, 3));
  };
  const move = (step: number) => {
    // With whole numbers, several steps may have the same number, so a step goes to the next one.
    const number = at(step) === now.number && Math.abs(step - position) >= 1 ? now.number + Math.sign(step - position) : at(step);
    const next = Math.min(Math.max(number, minimum), maximum);
    void active.value.change(field.path, now.unit ? tomlValue(`${next} ${now.unit}`) : String(next));
  };
  return (
    <input
      type="range"
      min={0}
      max={STEPS}
      step={1}
      value={Math.round(position)}
      aria-label={`${label}, slider`}
      aria-valuetext={show(field.value)}
      onInput={(event) => move(Number(event.currentTarget.value))}
    />
  );
}

function TextBox({ field, id }: { field: Field; id: string }) {
  const [draft, setDraft] = useState(show(field.value));
  const value = show(field.value);
  useEffect(() => setDraft(value), [value, active.value.opened.value]);
  const submit = () => {
    const { problem } = active.value;
    if (draft !== value) void active.value.set(field.path, typed(field, draft));
    else if (problem.value && concerns(field.path, problem.value.path)) problem.value = undefined;
  };
  return (
    <input
      id={id}
      type="text"
      value={draft}
      placeholder={field.nullable ? "not set" : ""}
      spellcheck={false}
      autocomplete="off"
      aria-describedby={`${id}-help`}
      onInput={(event) => setDraft(event.currentTarget.value)}
      onChange={submit}
      onKeyDown={(event) => event.key === "Enter" && submit()}
    />
  );
}

/** Return the value of a choice of a table: its kind, with the buffer of a queue that was written. */
function ofKind(field: Field, kind: Json): Json {
  const before = field.path.split(".").reduce<Json | undefined>((node, key) =>
    typeof node === "object" && node !== null ? (node as JsonTable)[key] : undefined, active.value.written.value);
  const limit = typeof before === "object" && before !== null ? (before as JsonTable)["limit"] : undefined;
  const isQueue = field.path.endsWith("queue");
  return isQueue && limit !== undefined ? { kind, limit } : { kind };
}

function Select({ field, id }: { field: Field; id: string }) {
  const isTable = field.type === "table" || (field.value === null && field.type !== "choice");
  const now = field.type === "table" ? (field.value as JsonTable)["kind"]! : field.value;
  const choose = (text: string) => {
    if (text === "") return void active.value.set(field.path, null);
    const value = field.choices.find((choice) => String(choice.value) === text)!.value;
    void active.value.set(field.path, isTable ? ofKind(field, value) : value);
  };
  return (
    <select id={id} aria-describedby={`${id}-help`} value={now === null ? "" : String(now)} onChange={(event) => choose(event.currentTarget.value)}>
      {field.nullable && <option value="">not set</option>}
      {field.choices.map((choice) => (
        <option key={String(choice.value)} value={String(choice.value)} title={choice.meaning}>{String(choice.value)}</option>
      ))}
    </select>
  );
}

function Help({ field, id, open }: { field: Field; id: string; open: boolean }) {
  const chosen = field.type === "table" ? (field.value as JsonTable)["kind"] : field.value;
  const meaning = field.choices.find((choice) => choice.value === chosen)?.meaning;
  return (
    <div id={`${id}-help`} class="help" hidden={!open}>
      <p>{field.meaning}</p>
      {meaning && <p><b>{String(chosen)}</b>: {meaning}</p>}
      <p class="facts">
        Key <code>{field.path}</code>.
        {field.default !== undefined && field.default !== null && typeof field.default !== "object" && ` Default ${show(field.default)}.`}
        {field.range && ` Range: ${field.range}.`}
        {field.units.length > 0 && ` Units: ${field.units.filter((unit) => !["byte", "bytes", "packet", "segment"].includes(unit)).join(", ")}.`}
        {field.source && ` Source: ${field.source}.`}
      </p>
    </div>
  );
}

/** Return true if an error belongs to the key at a path, or to a key below it. */
export const concerns = (path: string, error: string) => error === path || error.startsWith(`${path}.`);

/** Show the control of a field. `label` replaces the name of the key. */
export function Control({ field, label = field.name }: { field: Field; label?: string | undefined }) {
  const [open, setOpen] = useState(false);
  const id = `control-${field.path.replaceAll(".", "-")}`;
  const problem = active.value.problem.value;
  const error = problem && concerns(field.path, problem.path) ? problem.text : "";
  const isChoice = field.type === "choice" || field.choices.length > 0;
  return (
    <div class={`control ${error ? "wrong" : ""}`} data-path={field.path}>
      <div class="row">
        <label for={id}>{label}</label>
        <button type="button" class="quiet why" aria-expanded={open} aria-controls={`${id}-help`} aria-label={`Help for ${label}`} onClick={() => setOpen(!open)}>?</button>
        {field.type === "boolean" ? (
          <input id={id} type="checkbox" checked={field.value === true} aria-describedby={`${id}-help`} onChange={(event) => void active.value.set(field.path, event.currentTarget.checked)} />
        ) : isChoice ? (
          <Select field={field} id={id} />
        ) : (
          <TextBox field={field} id={id} />
        )}
      </div>
      {isNumeric(field) && !isChoice && <Slider field={field} label={label} />}
      {error && <p class="error" role="alert">{error}</p>}
      <Help field={field} id={id} open={open} />
    </div>
  );
}

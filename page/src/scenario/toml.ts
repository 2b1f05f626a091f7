/** Scenarios as TOML, as in `python/aqmlab/scenario.py`. */
import type { Json, JsonTable } from "../simulator/client";

const isTable = (value: Json): value is JsonTable =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const key = (name: string): string => (/^[\w-]+$/.test(name) ? name : JSON.stringify(name));

/** Return a value in TOML syntax on one line. TOML has no null, so a key with null is left out. */
export function tomlValue(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (isTable(value)) {
    const pairs = Object.entries(value).filter(([, v]) => v !== null);
    return pairs.length ? `{ ${pairs.map(([k, v]) => `${key(k)} = ${tomlValue(v)}`).join(", ")} }` : "{}";
  }
  return JSON.stringify(value);
}

/** Return a scenario as a TOML document. */
export function tomlDocument(document: JsonTable): string {
  const heads: string[] = [];
  const parts: string[] = [];
  for (const [name, value] of Object.entries(document)) {
    const several = Array.isArray(value) ? value : [value];
    if (value === null) continue;
    if (several.length === 0 || !several.every(isTable)) {
      heads.push(`${key(name)} = ${tomlValue(value)}\n`);
      continue;
    }
    const head = Array.isArray(value) ? `[[${key(name)}]]` : `[${key(name)}]`;
    for (const table of several as JsonTable[]) {
      const pairs = Object.entries(table).filter(([, v]) => v !== null);
      parts.push(`${head}\n${pairs.map(([k, v]) => `${key(k)} = ${tomlValue(v)}\n`).join("")}`);
    }
  }
  return [heads.join(""), ...parts].filter(Boolean).join("\n");
}

/** Return the scenario as a Python program that runs it. */
export function pythonProgram(document: JsonTable): string {
  return `import aqmlab\n\nscenario = aqmlab.Scenario.from_toml('''\n${tomlDocument(document)}''')\nresult = aqmlab.run(scenario)\nprint(result.flows)\n`;
}

/** Dotted paths and values of all keys that are not tables. */
function leaves(value: Json, path: string): [string, Json][] {
  const entries = Array.isArray(value) && value.every(isTable) ? Object.entries(value) : isTable(value) ? Object.entries(value) : undefined;
  return entries ? entries.flatMap(([k, v]) => leaves(v, path ? `${path}.${k}` : k)) : [[path, value]];
}

/** Return the paths of the keys in which two scenarios differ, with both values. An absent key is "default". */
export function differences(a: JsonTable, b: JsonTable): [path: string, a: string, b: string][] {
  const [before, after] = [a, b].map((of) => new Map(leaves(of, "").map(([path, value]) => [path, tomlValue(value)])));
  const paths = new Set([...before!.keys(), ...after!.keys()]);
  const value = (of: Map<string, string>, path: string) => of.get(path)?.replace(/^"(.*)"$/, "$1") ?? "default";
  return [...paths]
    .filter((path) => path !== "title" && before!.get(path) !== after!.get(path))
    .map((path) => [path, value(before!, path), value(after!, path)]);
}

/**
 * Return the command that runs the scenario: the ready scenario `name` with changed keys, or a file
 * if the scenario lacks a key of the ready scenario.
 */
export function command(document: JsonTable, name: string, ready: JsonTable | undefined): string {
  const before = new Map(ready ? leaves(ready, "") : []);
  const after = leaves(document, "");
  const paths = new Set(after.map(([path]) => path));
  const removed = [...before.keys()].some((path) => ![...paths].some((p) => p === path || p.startsWith(`${path}.`)));
  if (!ready || removed) return "aqmlab run scenario.toml";
  const changed = after.filter(([path, value]) => JSON.stringify(before.get(path)) !== JSON.stringify(value));
  const quote = (text: string) => (/^[\w.=/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
  const word = (value: Json) => (typeof value === "string" ? value : tomlValue(value));
  return ["aqmlab run", name, ...changed.map(([path, value]) => `--set ${path}=${quote(word(value))}`)].join(" ");
}

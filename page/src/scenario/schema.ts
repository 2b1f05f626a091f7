/** Controls of a scenario, from the JSON Schema and the values with all defaults. */
import type { Json, JsonTable } from "../simulator/client";

/** One choice of a control, with its meaning. */
export type Choice = { value: Json; meaning: string };

/** A key of the scenario that a control can change. */
export type Field = {
  /** Dotted path, such as `network.queue.limit`. */
  path: string;
  name: string;
  value: Json;
  meaning: string;
  /** Bounds in words, such as "above 0, at most 1". */
  range: string;
  source: string;
  default: Json | undefined;
  /** A text with a unit, a number, a word, or a table whose keys are `children`. */
  type: "quantity" | "number" | "integer" | "boolean" | "choice" | "table" | "list" | "text";
  /** True if the value null, which stands for an absent key, is allowed. */
  nullable: boolean;
  /** Choices of a word, or kinds of a table. */
  choices: Choice[];
  units: string[];
};

type Schema = { [key: string]: Json } & { description?: string };

const isTable = (value: Json | undefined): value is JsonTable =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");

/** Tables of a scenario, read from the schema. */
export class Schemas {
  constructor(private readonly root: JsonTable) {}

  /** Return the fields of the top-level table. */
  fields(normalized: JsonTable): Field[] {
    return this.properties(this.root as Schema, normalized, "");
  }

  /** Return the field at a dotted path, or undefined if the scenario does not have the key. */
  field(normalized: JsonTable, path: string): Field | undefined {
    const [first, ...rest] = path.split(".");
    const top = this.fields(normalized).find((field) => field.path === first);
    return rest.reduce<Field | undefined>((field, key) => field && this.child(field, key), top);
  }

  /** Return true if the list at a path of the top level, such as `record.series`, may have a word. */
  has(path: string, word: string): boolean {
    const at = path.split(".").reduce<Schema>((node, key) => (node["properties"] as Record<string, Schema>)[key] ?? {}, this.root as Schema);
    return this.leaves(this.items(at)).some((leaf) => leaf["const"] === word);
  }

  /** Return the fields of a table or list. */
  children(field: Field): Field[] {
    const schema = this.schemas.get(field);
    if (!schema) return [];
    if (Array.isArray(field.value)) return field.value.map((one, i) => this.item(schema, field, one, i));
    return isTable(field.value) ? this.properties(this.variant(schema, field.value), field.value, field.path) : [];
  }

  /** Return one field of a table or list. A list may have thousands of items. */
  private child(field: Field, key: string): Field | undefined {
    const schema = this.schemas.get(field);
    if (!schema || !Array.isArray(field.value)) return this.children(field).find(({ path }) => path === `${field.path}.${key}`);
    const one = field.value[Number(key)];
    return one === undefined ? undefined : this.item(schema, field, one, Number(key));
  }

  private item(schema: Schema, field: Field, one: Json, i: number): Field {
    return this.make(this.items(schema), one, `${field.path}.${i}`, isTable(one) ? text(one["name"]) || `${i}` : `${i}`);
  }

  private readonly schemas = new WeakMap<Field, Schema>();

  private properties(schema: Schema, values: JsonTable, path: string): Field[] {
    const properties = (schema["properties"] ?? {}) as Record<string, Schema>;
    return Object.entries(properties)
      .filter(([name]) => name !== "kind" && name in values)
      .map(([name, of]) => this.make(of, values[name]!, path ? `${path}.${name}` : name, name));
  }

  private make(schema: Schema, value: Json, path: string, name: string): Field {
    const leaves = this.leaves(schema);
    const real = leaves.filter((leaf) => leaf["type"] !== "null");
    const field: Field = {
      path,
      name: name.replaceAll("_", " "),
      value,
      meaning: text(schema.description) || text(real[0]?.description),
      range: text(schema["x-range"]) || text(real[0]?.["x-range"]),
      source: text(schema["x-source"]) || text(real[0]?.["x-source"]),
      default: schema["default"],
      type: this.type(real, value),
      nullable: real.length < leaves.length,
      choices: this.choices(real, value),
      units: [...new Set(real.flatMap(units))],
    };
    this.schemas.set(field, schema);
    return field;
  }

  private type(leaves: Schema[], value: Json): Field["type"] {
    if (Array.isArray(value)) return "list";
    if (isTable(value)) return "table";
    if (leaves.some((leaf) => "x-quantity" in leaf)) return "quantity";
    if (leaves.some((leaf) => "const" in leaf || "enum" in leaf)) return "choice";
    const simple = ["boolean", "integer", "number"] as const;
    return simple.find((type) => leaves.some((leaf) => leaf["type"] === type)) ?? "text";
  }

  private choices(leaves: Schema[], value: Json): Choice[] {
    const tables = leaves.filter((leaf) => kindOf(leaf) !== undefined);
    const kinds = tables.map((leaf) => ({ value: kindOf(leaf)!, meaning: text(leaf.description) }));
    if (isTable(value) || (value === null && kinds.length > 0)) return kinds;
    const words = leaves.filter((leaf) => "const" in leaf);
    const listed = leaves.flatMap((leaf) => (Array.isArray(leaf["enum"]) ? leaf["enum"] : []));
    return [
      ...words.map((leaf) => ({ value: leaf["const"]!, meaning: text(leaf.description) })),
      ...listed.map((one) => ({ value: one, meaning: "" })),
    ];
  }

  private items(schema: Schema): Schema {
    const list = this.leaves(schema).find((leaf) => leaf["type"] === "array");
    return (list?.["items"] ?? {}) as Schema;
  }

  private variant(schema: Schema, value: JsonTable): Schema {
    const tables = this.leaves(schema).filter((leaf) => "properties" in leaf);
    return tables.find((leaf) => kindOf(leaf) === value["kind"]) ?? tables[0] ?? {};
  }

  /** Return the alternatives of a schema. */
  private leaves(schema: Schema): Schema[] {
    const reference = text(schema["$ref"]);
    if (reference) return this.leaves((this.root["$defs"] as JsonTable)[reference.split("/").pop()!] as Schema);
    const several = (schema["anyOf"] ?? schema["oneOf"]) as Schema[] | undefined;
    return several ? several.flatMap((one) => this.leaves(one)) : [schema];
  }
}

function kindOf(leaf: Schema): string | undefined {
  const kind = (leaf["properties"] as Record<string, Schema> | undefined)?.["kind"];
  return kind && "const" in kind ? text(kind["const"]) : undefined;
}

/** Return the units of a quantity, which are the last group of its pattern. */
function units(leaf: Schema): string[] {
  return /\(([^()]*)\)\\s\*\$$/.exec(text(leaf["pattern"]))?.[1]?.split("|") ?? [];
}

/** Return the bounds of a range in words, as numbers in the base unit. */
export function bounds(range: string): [number, number] {
  const low = /(?:at least|above) ([\d.]+)/.exec(range)?.[1];
  const high = /at most ([\d.]+)/.exec(range)?.[1];
  return [Number(low ?? -Infinity), Number(high ?? Infinity)];
}

/** Scenarios as TOML, as a command and as a link. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { LESSONS } from "../src/lessons/lesson";
import { fromFragment, toFragment } from "../src/scenario/link";
import { READY } from "../src/scenario/ready";
import { Schemas, type Field } from "../src/scenario/schema";
import { command, pythonProgram, tomlDocument } from "../src/scenario/toml";
import type { JsonTable } from "../src/simulator/client";
import { Simulator } from "../src/simulator/module";
import { python } from "./browser";

let simulator: Simulator;
let schemas: Schemas;
beforeAll(async () => {
  const file = new URL("../../target/wasm32-unknown-unknown/web/web.wasm", import.meta.url);
  simulator = await Simulator.instantiate(await WebAssembly.compile(readFileSync(file)));
  schemas = new Schemas(simulator.describe()["schema"] as JsonTable);
});

const check = (text: string, format: "toml" | "json") =>
  simulator.check({ text, format }) as { written: JsonTable; normalized: JsonTable };
const ALL = [
  ...READY.map(({ name, text }) => [name, text, "toml"] as const),
  ...LESSONS.map(([name, lesson]) => [name, JSON.stringify(lesson.scenario), "json"] as const),
];

describe.each(ALL)("%s", (_, text, format) => {
  test("the TOML and the link have the same scenario", async () => {
    const { written, normalized } = check(text, format);
    expect(check(tomlDocument(written), "toml").normalized).toEqual(normalized);
    expect(await fromFragment(`#${await toFragment({ scenario: written })}`)).toEqual({ scenario: written });
  });

  test("every key has a control with its meaning", () => {
    const { normalized } = check(text, format);
    const visit = (fields: Field[]): number =>
      fields.reduce((count, field) => {
        if (!/\.\d+$/.test(field.path)) expect(field.meaning, field.path).not.toBe("");
        expect(schemas.field(normalized, field.path)?.value, field.path).toEqual(field.value);
        return count + 1 + visit(schemas.children(field));
      }, 0);
    expect(visit(schemas.fields(normalized))).toBeGreaterThan(100);
  });
});

test("the command has the changed keys", () => {
  const { written } = check(READY.find(({ name }) => name === "dsl")!.text, "toml");
  const changed = structuredClone(written) as { network: JsonTable; flows: JsonTable[] };
  changed.network["rate"] = "50 Mbit/s";
  changed.flows[0]!["count"] = 3;
  const line = command(changed as unknown as JsonTable, "dsl", written);
  expect(line).toBe("aqmlab run dsl --set flows.0.count=3 --set network.rate='50 Mbit/s'");
  delete changed.network["reverse"];
  expect(command(changed as unknown as JsonTable, "dsl", written)).toBe("aqmlab run scenario.toml");
  expect(command(written, "", undefined)).toBe("aqmlab run scenario.toml");
});

test("the Python program runs the scenario", () => {
  const { written, normalized } = check(READY.find(({ name }) => name === "l4s")!.text, "toml");
  const program = `${pythonProgram(written).replace("print(result.flows)", "")}
import json
print(json.dumps(result.scenario if isinstance(result.scenario, dict) else json.loads(result.scenario)))`;
  expect(python(program)).toEqual(normalized);
});

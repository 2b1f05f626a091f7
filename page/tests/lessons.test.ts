/** The check of each lesson passes with its own answer, and fails with typical wrong ones. */
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { changedKeys, LESSONS, satisfied, type Lesson } from "../src/lessons/lesson";
import { measures } from "../src/results/measures";
import { plainResult } from "../src/results/plain";
import { firstSeries } from "../src/scenario/recorded";
import { Simulator } from "../src/simulator/module";
import type { JsonTable } from "../src/simulator/client";

let simulator: Simulator;
beforeAll(async () => {
  const file = new URL("../../target/wasm32-unknown-unknown/web/web.wasm", import.meta.url);
  simulator = await Simulator.instantiate(await WebAssembly.compile(readFileSync(file)));
});

/** Return the failed conditions and the forbidden changes. */
function failures(lesson: Lesson, changes: [string, string][]): string[] {
  const request = { text: JSON.stringify(lesson.scenario), format: "json" as const, changes };
  const { written, normalized } = simulator.check(request) as { written: JsonTable; normalized: JsonTable };
  const series = firstSeries(normalized, written);
  const of = measures(plainResult(simulator.run({ ...request, changes: [...changes, ...series] })), "left>right");
  const failed = lesson.conditions.filter((condition) => !satisfied(condition, of));
  return [...failed.map(({ measure }) => `${measure} ${of[measure]}`), ...changedKeys(lesson, written)];
}

test("there are five lessons", () => expect(LESSONS.length).toBe(5));

describe.each(LESSONS)("%s", (_, lesson) => {
  test("the answer solves the task", () => expect(failures(lesson, lesson.answer)).toEqual([]));
  test("the task is open at the beginning", () => expect(failures(lesson, [])).not.toEqual([]));
  test("wrong answers fail", () => {
    expect(lesson.wrong.length).toBeGreaterThan(1);
    for (const changes of lesson.wrong) {
      expect(failures(lesson, changes), JSON.stringify(changes)).not.toEqual([]);
      expect(changes.every(([path]) => !lesson.unchanged.includes(path))).toBe(true);
    }
  });
  test("a smaller load is no answer", () =>
    expect(failures(lesson, [...lesson.answer, ["network.rate", '"100 Mbit/s"']])).toContain("network.rate"));
});

/** Lessons: a question, a scenario, and a task with a check. Each lesson is a JSON file. */
import type { Json, JsonTable } from "../simulator/client";
import type { Measures } from "../results/measures";

/** Bound of a measure that an answer must satisfy. */
export type Condition = { measure: keyof Measures; at_most?: number; at_least?: number };

export type Lesson = {
  title: string;
  question: string;
  /** Sentences about what the figures show. */
  look: string[];
  task: string;
  conditions: Condition[];
  /** Paths of keys that an answer must not change. */
  unchanged: string[];
  /** Changes that solve the task, and changes that do not. The values have the syntax of TOML. */
  answer: [string, string][];
  wrong: [string, string][][];
  /** Explanation of the answer. */
  why: string;
  scenario: JsonTable;
};

const FILES = import.meta.glob<Lesson>("./*.json", { import: "default", eager: true });

/** All lessons in order, each with its name. */
export const LESSONS: [string, Lesson][] = Object.entries(FILES)
  .sort(([a], [b]) => a.localeCompare(b))
  .map(([path, lesson]) => [path.replace(/^\.\/|\.json$/g, ""), lesson]);

/** Prefix of the name of a scenario that a lesson opened. */
export const PREFIX = "lesson:";

/** Return the lesson that opened the scenario with the given name. */
export const lessonOf = (name: string): Lesson | undefined =>
  LESSONS.find(([one]) => PREFIX + one === name)?.[1];

/** Return true if the measures satisfy a condition. */
export function satisfied({ measure, at_most, at_least }: Condition, measures: Measures): boolean {
  const value = measures[measure];
  return value <= (at_most ?? Infinity) && value >= (at_least ?? -Infinity);
}

const at = (table: JsonTable, path: string): Json | undefined =>
  path.split(".").reduce<Json | undefined>((node, key) =>
    typeof node === "object" && node !== null ? (node as JsonTable)[key] : undefined, table);

/** Return the keys that differ from the scenario of the lesson, but must not change. */
export function changedKeys(lesson: Lesson, document: JsonTable): string[] {
  return lesson.unchanged.filter((path) => JSON.stringify(at(document, path)) !== JSON.stringify(at(lesson.scenario, path)));
}

/** Scenarios with known digests: those of crates/lab/tests/digests.txt. */
import { readFileSync } from "node:fs";
import type { Request } from "../src/simulator/module";

const ROOT = new URL("../../", import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), "utf-8");
const SCENARIO = /TWO_DOWNLOADS: &str = r#"(.*?)"#/s.exec(read("crates/lab/tests/common/mod.rs"))![1]!;

/** Digest and changes of each scenario. */
export const LISTED = read("crates/lab/tests/digests.txt")
  .trim()
  .split("\n")
  .map((line) => [line.slice(0, 16), line.slice(17)] as const);

/** Return a request with changes in the form `key=value;key=value` of digests.txt. */
export function request(changes: string): Request {
  const pairs = changes.split(";").map((change): [string, string] => {
    const at = change.indexOf("=");
    return [change.slice(0, at), change.slice(at + 1)];
  });
  return { text: SCENARIO, format: "toml", changes: pairs };
}

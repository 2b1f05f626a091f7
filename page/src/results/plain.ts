/** Conversion of the module's columns to the numbers of the page. */
import type { Column as RawColumn, RawResult } from "../simulator/module";
import type { Column, Result } from "./result";

/** Return the numbers of a column. Counts become floats, which are exact up to 2^53. */
function plain(column: RawColumn): Column {
  if (column.kind === "count") return { values: Float64Array.from(column.values, Number), names: [] };
  if (column.kind === "float") return { values: column.values, names: [] };
  return { values: Float64Array.from(column.values), names: column.names };
}

/** Return a result with columns of numbers. */
export function plainResult(raw: RawResult): Result {
  const tables: Result["tables"] = {};
  for (const [name, { rows, columns }] of raw.tables) {
    tables[name] = { rows, columns: Object.fromEntries([...columns].map(([c, of]) => [c, plain(of)])) };
  }
  return { manifest: raw.manifest, tables, captures: raw.captures };
}

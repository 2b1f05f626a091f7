/** Result of a run: tables of columns, and the manifest. */
import type { Manifest } from "../simulator/module";

/** Column of numbers. In a column of names, each number is an index into `names`. */
export type Column = { values: Float64Array<ArrayBuffer>; names: string[] };
/** Columns of a table by name. */
export type Table = { rows: number; columns: Record<string, Column> };
/** Tables, manifest and captures of a run. */
export type Result = {
  manifest: Manifest;
  tables: Record<string, Table>;
  captures: Record<string, Uint8Array<ArrayBuffer>>;
};

const NONE: Column = { values: new Float64Array(), names: [] };

/** Return a column of numbers; a missing table or column is empty. */
export function numbers(result: Result, table: string, column: string): Float64Array {
  return (result.tables[table]?.columns[column] ?? NONE).values;
}

/** Return the names of the rows in a column of names. */
export function names(result: Result, table: string, column: string): string[] {
  const { values, names } = result.tables[table]?.columns[column] ?? NONE;
  return Array.from(values, (code) => names[code] ?? "");
}

const groups = new WeakMap<Column, Map<string, number[]>>();

/** Return the rows of a table by the name in the column `by`: for each name, the indices of its rows. */
export function grouped(result: Result, table: string, by: string): Map<string, number[]> {
  const column = result.tables[table]?.columns[by] ?? NONE;
  const known = groups.get(column);
  if (known) return known;
  const rows = column.names.map((name): [string, number[]] => [name, []]);
  column.values.forEach((code, row) => rows[code]?.[1].push(row));
  const all = new Map(rows.filter(([, of]) => of.length > 0));
  groups.set(column, all);
  return all;
}

/** Return the values of the given rows. */
export function pick(values: Float64Array, rows: number[]): number[] {
  return rows.map((row) => values[row] ?? Number.NaN);
}

/** Return the row of a table whose column `by` has the given name, or -1. */
export function rowOf(result: Result, table: string, by: string, name: string): number {
  return names(result, table, by).indexOf(name);
}

/** Return the number of a flow among all flows of a run, which determines its colour. */
export function flowIndex(result: Result, flow: string): number {
  const tables = ["flows", "datagrams"].flatMap((table) => result.tables[table]?.columns["flow"]?.names ?? []);
  return Math.max(0, tables.indexOf(flow));
}

/** Return one number of a table. */
export function cell(result: Result, table: string, column: string, row: number): number {
  return numbers(result, table, column)[row] ?? Number.NaN;
}

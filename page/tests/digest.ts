import type { RawResult } from "../src/simulator/module";

/**
 * Return the FNV-1a hash of all tables of a result, as crates/lab/tests/common/mod.rs computes it.
 * The hash has two halves of 32 bits, because a BigInt operation per byte would be slow.
 */
export function digest(result: RawResult): string {
  let [high, low] = [0xcbf29ce4, 0x84222325];
  const add = (bytes: Uint8Array) => {
    for (const byte of bytes) {
      const mixed = (low ^ byte) >>> 0;
      const product = mixed * 0x1b3; // below 2^41, so the product is exact
      const carry = Math.floor(product / 2 ** 32);
      high = (Math.imul(high, 0x1b3) + Math.imul(mixed, 0x100) + carry) >>> 0;
      low = product >>> 0;
    }
  };
  const text = new TextEncoder();
  for (const [name, table] of result.tables) {
    add(text.encode(name));
    for (const [columnName, column] of table.columns) {
      add(text.encode(columnName));
      if (column.kind === "name") {
        for (const code of column.values) add(text.encode(column.names[code]));
      } else {
        add(new Uint8Array(column.values.buffer));
      }
    }
  }
  return [high, low].map((half) => half.toString(16).padStart(8, "0")).join("");
}

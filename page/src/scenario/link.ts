/** The whole scenario, or two scenarios, in the fragment of a link, compressed. */
import type { JsonTable } from "../simulator/client";

/** A scenario in a link. */
export type Setting = {
  scenario: JsonTable;
  /** Name of the ready scenario or the lesson from which the scenario was made. */
  name?: string | undefined;
};
/** State of the page that a link contains. `second` is the scenario B of a comparison. */
export type Linked = Setting & { seeds?: number | undefined; second?: Setting | undefined };

async function through(bytes: Uint8Array<ArrayBuffer>, stream: GenericTransformStream): Promise<Uint8Array<ArrayBuffer>> {
  const done = new Blob([bytes]).stream().pipeThrough(stream as ReadableWritablePair<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>);
  return new Uint8Array(await new Response(done).arrayBuffer());
}

/** Return the fragment of a link, without "#". */
export async function toFragment(linked: Linked): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(linked)), new CompressionStream("deflate-raw"));
  const binary = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return `s=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Read the fragment of a link. The result is undefined if the fragment has no scenario. */
export async function fromFragment(fragment: string): Promise<Linked | undefined> {
  const packed = new URLSearchParams(fragment.replace(/^#/, "")).get("s");
  if (!packed) return undefined;
  try {
    const binary = atob(packed.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (c) => c.charCodeAt(0));
    const text = new TextDecoder().decode(await through(bytes, new DecompressionStream("deflate-raw")));
    const linked = JSON.parse(text) as Linked;
    if (linked.second && !linked.second.scenario) throw new Error("incomplete");
    return typeof linked === "object" && linked.scenario ? linked : undefined;
  } catch {
    throw new Error("The link does not contain a complete scenario; copy the whole link.");
  }
}

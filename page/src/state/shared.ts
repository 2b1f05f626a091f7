/** State that does not belong to one scenario: the description of the simulator, and the seeds. */
import { signal } from "@preact/signals";
import type { Schemas } from "../scenario/schema";
import type { JsonTable } from "../simulator/client";

export const schemas = signal<Schemas | undefined>(undefined);
export const version = signal("");
/** Descriptions of all tables and their columns. */
export const columns = signal<JsonTable>({});
/** Manual pages of all keys and components. */
export const pages = signal<JsonTable>({});
/** Number of seeds, each with a run of every scenario. */
export const seeds = signal(1);

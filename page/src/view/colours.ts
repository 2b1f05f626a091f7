/** Colours of figures, from the custom properties of the page. */
import { signal } from "@preact/signals";
import { flowIndex, type Result } from "../results/result";

/** Number that changes with the colour scheme of the system, after which figures are drawn again. */
export const scheme = signal(0);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (scheme.value += 1));

/** Return the value of a custom property, such as `--queue`. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Number of colours of flows. */
export const FLOW_COLOURS = 8;

/** Return the colour of a flow, which is the same in all figures. */
export const flowColour = (result: Result, flow: string): string =>
  colour(`--flow-${flowIndex(result, flow) % FLOW_COLOURS}`);

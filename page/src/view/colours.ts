/** Colours of figures, from the custom properties of the page. */
import { signal } from "@preact/signals";

/** Number that changes with the colour scheme of the system, after which figures are drawn again. */
export const scheme = signal(0);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => (scheme.value += 1));

/** Return the value of a custom property, such as `--queue`. */
export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Number of colours of flows. */
export const FLOW_COLOURS = 8;

/** Return the colour of the flow with the given index. */
export const flowColour = (index: number): string => colour(`--flow-${index % FLOW_COLOURS}`);

/** The letter of an arm in a comparison, and what distinguishes the arm. */
import type { Arm } from "../state/arm";
import { comparing, label } from "../state/laboratory";

/** Show the letter of an arm; a single arm has none. */
export function Badge({ arm }: { arm: Arm }) {
  if (!comparing.value) return null;
  return <p class="of-arm"><b class={`badge ${arm.name.toLowerCase()}`}>{arm.name}</b> {label(arm)}</p>;
}

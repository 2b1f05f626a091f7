/** Ways in and out of the page: ready scenarios, files, links, and programs. */
import { useState } from "preact/hooks";
import { LESSONS, PREFIX } from "../lessons/lesson";
import { READY } from "../scenario/ready";
import { command, pythonProgram, tomlDocument } from "../scenario/toml";
import type { JsonTable } from "../simulator/client";
import { active, comparing, currentLink } from "../state/laboratory";
import { columns } from "../state/shared";
import { csv, save } from "./save";

/** Open a scenario file that the reader dropped or chose. */
export async function openFile(file: File): Promise<void> {
  await active.value.open(await file.text(), file.name.endsWith(".json") ? "json" : "toml", "");
}

/** Choose a ready scenario, or open a file. */
export function Open() {
  const { name, origin } = active.value;
  return (
    <div class="open">
      <label for="ready">Scenario{comparing.value && ` ${name}`}</label>
      <select id="ready" value={origin.value} onChange={(event) => void active.value.openNamed(event.currentTarget.value)}>
        {origin.value === "" && <option value="">your own</option>}
        <optgroup label="Lessons">
          {LESSONS.map(([name, lesson]) => <option key={name} value={PREFIX + name}>{lesson.title}</option>)}
        </optgroup>
        <optgroup label="Ready scenarios">
          {READY.map((one) => <option key={one.name} value={one.name} title={one.title}>{one.name}</option>)}
        </optgroup>
      </select>
      <label class="button">
        Open a file …
        <input
          type="file"
          accept=".toml,.json"
          class="hidden-input"
          onChange={(event) => {
            const [file] = event.currentTarget.files ?? [];
            if (file) void openFile(file);
            event.currentTarget.value = "";
          }}
        />
      </label>
    </div>
  );
}

/** Copy the scenario as a link, as TOML, as Python or as a command. */
export function Copy() {
  const [copied, setCopied] = useState("");
  const copy = async (name: string, text: string | Promise<string>) => {
    try {
      await navigator.clipboard.writeText(await text);
      setCopied(`${name} copied.`);
    } catch {
      setCopied(`The browser refused the clipboard. ${await text}`);
    }
  };
  const document = () => active.value.written.value;
  return (
    <div class="copy">
      <button type="button" onClick={() => void copy("Link", currentLink())}>Copy link</button>
      <button type="button" onClick={() => void copy("TOML", tomlDocument(document()))}>TOML</button>
      <button type="button" onClick={() => void copy("Python", pythonProgram(document()))}>Python</button>
      <button type="button" onClick={() => void copy("Command", command(document(), active.value.origin.value, active.value.original.value))}>Command</button>
      <button type="button" onClick={() => save("scenario.toml", new Blob([tomlDocument(document())]))}>Save TOML</button>
      <span role="status">{copied}</span>
    </div>
  );
}

/** Descriptions of the tables that only the page has. */
const OF_PAGE: Record<string, string> = {
  packets: "Packets of the link, from its capture.",
  pages: "Web page of each request of a user, also of requests that the run does not reach.",
};

/** Return the description of a table. */
const about = (name: string): string => String((columns.value[name] as JsonTable | undefined)?.["about"] ?? OF_PAGE[name] ?? "");

/** Save the tables of the run as CSV, and the packets of the link as a capture. */
export function Tables() {
  const arm = active.value;
  const result = arm.shown.value?.result;
  if (!result) return null;
  const detail = arm.traced.value?.result;
  const all = { ...detail?.tables, ...result.tables };
  return (
    <details class="tables-saved">
      <summary>Tables as CSV, packets as pcapng{comparing.value && `, of scenario ${arm.name}`}</summary>
      <p class="note">The tables have the columns of the command `aqmlab run --out`.</p>
      <div class="buttons">
        {Object.entries(all).map(([name, table]) => (
          <button type="button" key={name} title={about(name)} onClick={() => save(`${name}.csv`, new Blob([csv(table)], { type: "text/csv" }))}>
            {name} ({table.rows} rows)
          </button>
        ))}
        {Object.entries(detail?.captures ?? {}).map(([name, content]) => (
          <button type="button" key={name} onClick={() => save(name, new Blob([content]))}>{name}</button>
        ))}
      </div>
    </details>
  );
}

/** Ready scenarios of the package, by name. */
const FILES = import.meta.glob<string>("../../../python/aqmlab/data/scenarios/*.toml", {
  query: "?raw",
  import: "default",
  eager: true,
});

/** Ready scenario: a TOML text whose first comment describes it. */
export type Ready = { name: string; title: string; text: string };

/** All ready scenarios in alphabetical order. */
export const READY: Ready[] = Object.entries(FILES).map(([path, text]) => ({
  name: path.split("/").pop()!.replace(".toml", ""),
  title: /^title = "(.*)"$/m.exec(text)?.[1] ?? "",
  text,
}));

/** Return the ready scenario with the given name. */
export const ready = (name: string): Ready | undefined => READY.find((one) => one.name === name);

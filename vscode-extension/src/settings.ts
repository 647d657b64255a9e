/**
 * The editor's settings as the server knows them. Knows nothing of VS Code, so that it can be tested as it is.
 *
 * The Settings UI edits no value that may be null, so that "not set here" is said in words: `auto`, an empty text, `0` seconds.
 * For the server, who looks into noisy.toml then, it is null.
 */

/** Sections of `noisy.` that the server reads. */
export const sections = [
  "codeLens",
  "configuration",
  "features",
  "heir",
  "inlayHints",
  "loops",
  "placement",
  "rules",
];

const words = new Map<unknown, boolean | null>([
  ["auto", null],
  ["on", true],
  ["off", false],
]);

/** Where a text means an absence; elsewhere it is itself. */
const unsetTexts = new Set(["configuration"]);

/** Where 0 means an absence. */
const unsetZeros = new Set([
  "timeLimit",
  "levelBudget",
  "bootstrapWaterline",
  "inputRange",
  "tileSize",
  "tileCache",
]);

/** One value as the server knows it. Values of former versions (`true`, `null`) stay what they are. */
export function forServer(value: unknown, name = ""): unknown {
  if (Array.isArray(value) || value === null || value === undefined) {
    return value ?? null;
  }
  if (typeof value === "object") {
    // The levels of rules are words of their own.
    return name === "rules"
      ? value
      : Object.fromEntries(Object.entries(value).map(([key, it]) => [key, forServer(it, key)]));
  }
  if (words.has(value)) {
    return words.get(value);
  }
  if ((unsetTexts.has(name) && value === "") || (unsetZeros.has(name) && value === 0)) {
    return null;
  }
  return value;
}

/** The same settings with what the client says of another server for MLIR. */
export function besideServer(settings: object, otherServer: boolean): object {
  const features = "features" in settings ? settings.features : {};
  return { ...settings, features: { ...(features ?? {}), otherServer } };
}

/** A section that the server asked for, such as `noisy` or `noisy.inlayHints`. */
export function sectionForServer(section: string | undefined, value: unknown): unknown {
  const name = section?.split(".").at(-1) ?? "";
  return section === "noisy" || section?.startsWith("noisy.") === true
    ? forServer(value, name)
    : value;
}

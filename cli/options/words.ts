/** The words of a row, for the documents, the schema and the types. */
import type { Option } from "../../src/config/option.ts";
import type { Sentence } from "./sentences.ts";

/** The default of an option, as an operator would write it in TOML or JSON; "" of a section. */
export function defaultOf(option: Option): string {
  switch (option.is) {
    case "boolean":
      return String(option.default ?? false);
    case "whole":
      return String(option.zeroIs ?? option.default);
    case "duration":
      return JSON.stringify(durationText(option.zeroIs ?? option.default ?? 0));
    case "text":
      return JSON.stringify(option.default ?? "");
    case "choice":
      return JSON.stringify(option.zeroIs ?? option.of[0]);
    case "texts":
    case "sections":
      return "[]";
    case "map":
      return "{}";
    case "filter":
    case "section":
      return "";
  }
}

/** The bounds of an option, such as `at most 100`; "" if it has none. */
export function boundsOf(option: Option): string {
  if (option.is !== "whole" && option.is !== "duration") return "";
  const { min = 0, max } = option;
  const shown = (value: number): string =>
    option.is === "whole" ? value.toLocaleString("en-US") : durationText(value);
  if (max !== undefined)
    return min > 0 ? `from ${shown(min)} to ${shown(max)}` : `at most ${shown(max)}`;
  return min > 0 ? `at least ${shown(min)}` : "";
}

/** A duration as the configuration has it. */
function durationText(ms: number): string {
  if (ms % 1_000 !== 0) return `${ms}ms`;
  const seconds = ms / 1_000;
  if (seconds % 3_600 === 0 && seconds > 0) return `${seconds / 3_600}h`;
  return seconds % 60 === 0 && seconds > 0 ? `${seconds / 60}m` : `${seconds}s`;
}

/** The kind of an option's values, where its type doesn't say it. */
function unitOf(option: Option): string {
  return option.is === "duration" ? 'A duration such as "25s", "5m" or "720h".' : "";
}

/**
 * All that there is to say of an option, as sentences.
 *
 * @param isOwn whether it is Dormouse's own, for itself or with its section
 */
export function explained(option: Option, { text }: Sentence, isOwn: boolean): readonly string[] {
  const bounds = boundsOf(option);
  const zero = option.is === "whole" && option.zeroIs !== undefined ? "0 means the default" : "";
  return [text, sentence(bounds), sentence(zero), isOwn ? "Dormouse's own." : ""].filter(
    (one) => one !== "",
  );
}

function sentence(text: string): string {
  return text === "" ? "" : `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** The text for an editor: sentences without links, the default and the unit. */
export function described(option: Option, said: Sentence, isOwn: boolean): string {
  const byDefault = said.default?.replaceAll("`", "") ?? defaultOf(option);
  return [
    ...explained(option, said, isOwn).map(withoutLinks),
    unitOf(option),
    byDefault === "required" ? "Required." : byDefault === "" ? "" : `Default: ${byDefault}.`,
  ]
    .filter((one) => one !== "")
    .join(" ");
}

/** A text whose links are names of files, for who doesn't read it among the documents. */
function withoutLinks(text: string): string {
  return text.replaceAll(/\[([^\]]+)\]\(([-\w]+\.md)(?:#[-\w]*)?\)/g, (_, title: string, file) =>
    title === file ? `docs/${file}` : `${title} (docs/${file})`,
  );
}

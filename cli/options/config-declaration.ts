/**
 * The declaration of `DormouseConfig` in the installed package: the same type as the rows give, with the sentence, the bounds,
 * the default and the unit of each option as its comment.
 */
import type { Option, Options } from "../../src/config/option.ts";
import * as whole from "../../src/features/options.ts";
import { placedOptions, sharedTables } from "./tree.ts";
import { described } from "./words.ts";

/** The text of the declaration. */
export function configDeclaration(): string {
  const shared = Array.from(
    sharedTables,
    ([table, name]) => `interface Config${name} ${objectText(table, false)}\n`,
  );
  return `/** The configuration, as it stands under \`[vars.config]\` (docs/configuration.md). */\nexport interface DormouseConfig ${objectText(whole.configuration, false)}\n${shared.join("")}`;
}

function objectText(options: Options, isOwn: boolean): string {
  const members = placedOptions(options, isOwn).map((one) => {
    const comment = described(one.option, one.said, one.isOwn).replaceAll("*/", "*\u200B/");
    return `/** ${comment} */\nreadonly ${one.name}?: ${typeText(one.option, one.isOwn)};\n`;
  });
  return `{\n${members.join("")}}`;
}

function typeText(option: Option, isOwn: boolean): string {
  switch (option.is) {
    case "boolean":
      return "boolean";
    case "whole":
      return "number";
    case "duration":
    case "text":
      return "string";
    case "choice":
      return option.of.map((one) => JSON.stringify(one)).join(" | ");
    case "texts":
      return "readonly string[]";
    case "map":
      return "{ readonly [name: string]: string }";
    case "filter":
      return "object";
    case "section":
      return sectionText(option.of, isOwn);
    case "sections":
      return `readonly (${sectionText(option.of, isOwn)})[]`;
  }
}

/** A section by its name if it has one, or by the name of the table that it extends. */
function sectionText(options: Options, isOwn: boolean): string {
  for (const [table, name] of sharedTables) {
    const names = Object.keys(table);
    if (!names.every((one) => options[one] === table[one])) continue;
    const others = Object.entries(options).filter(([one]) => !names.includes(one));
    return others.length === 0
      ? `Config${name}`
      : `Config${name} & ${objectText(Object.fromEntries(others), isOwn)}`;
  }
  return objectText(options, isOwn);
}

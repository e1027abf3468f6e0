import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { configured } from "../../support/configured.ts";

/** The documentation is held against the parsed configuration, in which every option there is has a field. */
const documentation = readFileSync("docs/configuration.md", "utf8");
const { client, channel, httpApi } = configured();
const fields = [client, channel, channel.withoutNamespace, httpApi].flatMap((section) =>
  Object.keys(section),
);

it.each(fields)("[B1] docs/configuration.md explains the option behind %s", (field) => {
  expect(documentation).toContain(`\`${optionName(field)}\``);
});

it("[B1] docs/configuration.md explains channel_regex, which has no default", () => {
  expect(documentation).toContain("`channel_regex`");
});

/** Units are part of a field's name here, and of the value in the configuration. */
function optionName(field: string): string {
  return field
    .replace(/(Ms|Bytes)$/, "")
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

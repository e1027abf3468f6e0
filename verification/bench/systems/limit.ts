import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import type { System } from "./system.ts";
import { tokenSecret } from "./wire.ts";
import { startOnWorkerd } from "./workerd-system.ts";

/** The limit of the runtime. */
export const limit: System = {
  name: "limit",
  start: (options) =>
    startOnWorkerd(options, {
      modules: {
        "limit-object.js": textOf("./limit-object.js"),
        "batch-window.js": stripTypeScriptTypes(textOf("../../../src/hub/batch-window.ts")),
        "limits.js": stripTypeScriptTypes(textOf("../../../src/limits.ts")),
      },
      classNames: { CHANNELS: "LimitObject" },
      variables: {},
      secrets: options.tokens === true ? { TOKEN_SECRET: tokenSecret } : {},
    }),
};

function textOf(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8");
}

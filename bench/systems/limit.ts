import { readFileSync } from "node:fs";
import { type System, usualHistorySize } from "./system.ts";
import { tokenSecret } from "./wire.ts";
import { startOnWorkerd } from "./workerd-system.ts";

/** The limit of the runtime, with a row for each publication or without. */
export function limit(name: "limit" | "durable-limit"): System {
  return {
    name,
    start: (options) =>
      startOnWorkerd(options, {
        modules: { "limit-object.js": objectText() },
        classNames: { CHANNELS: "LimitObject" },
        variables:
          name === "limit" ? {} : { HISTORY_SIZE: String(options.historySize ?? usualHistorySize) },
        secrets: options.tokens === true ? { TOKEN_SECRET: tokenSecret } : {},
      }),
  };
}

function objectText(): string {
  return readFileSync(new URL("./limit-object.js", import.meta.url), "utf8");
}

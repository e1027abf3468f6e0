import { readFileSync } from "node:fs";
import type { System } from "./system.ts";
import { tokenSecret } from "./wire.ts";
import { startOnWorkerd } from "./workerd-system.ts";

/** What the runtime itself can do. */
export const limit: System = {
  name: "limit",
  start: (arrangement) =>
    startOnWorkerd(arrangement, {
      modules: {
        "limit-object.js": readFileSync(new URL("./limit-object.js", import.meta.url), "utf8"),
      },
      classNames: { CHANNELS: "LimitObject" },
      variables: {},
      secrets: arrangement.tokens === true ? { TOKEN_SECRET: tokenSecret } : {},
    }),
};

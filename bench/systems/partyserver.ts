import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { installPeers, peersFolder } from "./installed-peers.ts";
import type { System } from "./system.ts";
import { startOnWorkerd } from "./workerd-system.ts";

/** npm's `partyserver` on the same runtime as Dormouse. */
export const partyserver: System = {
  name: "partyserver",
  start: async (options) => {
    await installPeers();
    bundle ??= bundled();
    return startOnWorkerd(options, {
      modules: { "partyserver-worker.js": bundle },
      classNames: { ROOMS: "Room" },
      variables: {},
      secrets: {},
    });
  },
};

/** The Worker and the packages it imports as one module. */
function bundled(): string {
  const options = ["--bundle", "--format=esm", "--minify", "--external:cloudflare:workers"];
  return execFileSync(
    join(peersFolder, "node_modules", ".bin", "esbuild"),
    ["partyserver-worker.js", ...options],
    { cwd: peersFolder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
  );
}

let bundle: string | undefined;

import { join } from "node:path";
import { esbuildModule, isClone, packageFolder, packageText } from "./packages.ts";
import { workerBuild } from "./worker-build.ts";

/** The modules of a Worker in miniflare; the first one is the main module. */
export type WorkerModules = readonly WorkerModule[];

interface WorkerModule {
  readonly type: "ESModule" | "Text" | "Data" | "CompiledWasm";
  readonly path: string;
  readonly contents: string | Uint8Array<ArrayBuffer>;
}

/** A class of objects, and the name of a binding that has them. */
export interface BoundClass {
  readonly binding: string;
  readonly className: string;
}

/** The objects of the server that stands alone. */
export const serverObjects: readonly BoundClass[] = [
  { binding: "CHANNELS", className: "ChannelObject" },
  { binding: "GATEWAYS", className: "GatewayObject" },
  { binding: "USERS", className: "UsersObject" },
  { binding: "METRICS", className: "MetricsObject" },
];

/**
 * The code of the server, or of a Worker of one's own, with the control of the kit around it.
 *
 * @param objects whose classes it exports
 * @param aheadMs how far its clock is ahead of this machine's
 */
export function controlledModules(
  code: string,
  objects: readonly BoundClass[],
  aheadMs: number,
): WorkerModules {
  const clock = `globalThis.aheadAtStartMs = ${aheadMs};\n${kitText("clock.js")}`;
  const texts = {
    "main.js": mainText(objects),
    "clock.js": clock,
    "kit.js": kitText("kit.js"),
    "server.js": code,
  };
  return Object.entries(texts).map(([name, contents]) => ({
    type: "ESModule",
    path: `/${name}`,
    contents,
  }));
}

/** The main module: all that the server exports, with its objects observed. The clock is set before anything reads it. */
function mainText(objects: readonly BoundClass[]): string {
  // A class that has two bindings is counted by the first one.
  const classes = new Map(objects.toReversed().map((one) => [one.className, one.binding]));
  return [
    `import "./clock.js";`,
    `import { observed } from "./kit.js";`,
    `import * as server from "./server.js";`,
    `export * from "./server.js";`,
    `export { DormouseTestControl } from "./kit.js";`,
    `export default server.default;`,
    ...Array.from(
      classes,
      ([name, binding]) =>
        `export class ${name} extends observed(server.${name}, ${JSON.stringify(binding)}) {}`,
    ),
  ].join("\n");
}

/** The code of a module that the kit runs beside the Worker under test. */
export function kitText(name: string): string {
  return isClone
    ? packageText("package", "test", "worker", name)
    : packageText("dist", "test", name);
}

let built: Promise<string> | undefined;

/** The code of the server as it is deployed. */
export function serverCode(): Promise<string> {
  if (!isClone) return Promise.resolve(packageText("dist", "test", "server.js"));
  built ??= builtServer();
  return built;
}

async function builtServer(): Promise<string> {
  const { outputFiles } = await esbuildModule().build({
    entryPoints: [join(packageFolder, "workers", "edge.ts")],
    ...workerBuild,
  });
  return outputFiles[0]?.text ?? "";
}

import type { MiniflareOptions, V4MiniflareOptions, V4WorkerOptions } from "miniflare";
import { type HookBackend, hooksBinding, type JsonConfig } from "./hooks.ts";
import { miniflareModule } from "./packages.ts";
import type { SortedBindings } from "./project/given-bindings.ts";
import { standInServices } from "./project/stand-in-services.ts";
import { missingClassName, standIns, type Surroundings } from "./project/surroundings.ts";
import { type BoundClass, controlledModules, kitText, type WorkerModules } from "./worker-code.ts";

/** What a runtime runs. */
export interface RuntimeSetup {
  readonly code: string;
  /** Modules beside the code that aren't JavaScript. */
  readonly others: WorkerModules;
  /** Variables and secrets, in JSON. */
  readonly variables: JsonConfig;
  readonly hooks: HookBackend;
  /** What the test gives in place of other Workers. */
  readonly given: SortedBindings;
  /** The Worker's own classes of objects. */
  readonly objects: readonly BoundClass[];
  /** What the wrangler file of the Worker binds; absent without one. */
  readonly surroundings: Surroundings | undefined;
}

/** The name of the Worker under test. */
export const workerName = "dormouse";

const compatibilityDate = "2026-11-02";

/**
 * The options of miniflare.
 *
 * @param folder  where the state is
 * @param aheadMs how far the Worker's clock is ahead of this machine's
 */
export function runtimeOptions(
  setup: RuntimeSetup,
  folder: string,
  aheadMs: number,
): MiniflareOptions {
  const options: V4MiniflareOptions = {
    host: "127.0.0.1",
    port: 0,
    cf: false,
    logRequests: false,
    resourcePersistencePath: folder,
    workers: [
      {
        name: "control",
        compatibilityDate,
        modules: [{ type: "ESModule", path: "control.js", contents: kitText("control.js") }],
        serviceBindings: { CONTROL: { name: workerName, entrypoint: "DormouseTestControl" } },
      },
      backendWorker(setup.hooks),
      standInWorker(setup),
      workerUnderTest(setup, aheadMs),
    ],
  };
  return miniflareModule().convertV4MiniflareOptions(options);
}

/** The Worker that is asked in place of backends. */
function backendWorker(hooks: HookBackend): V4WorkerOptions {
  const { Response } = miniflareModule();
  return {
    name: "backend",
    compatibilityDate,
    modules: [{ type: "ESModule", path: "backend.js", contents: kitText("backend.js") }],
    serviceBindings: {
      TEST: async (request) => {
        const { pathname } = new URL(request.url);
        const headers = new Headers([...request.headers]);
        const { status, body } = await hooks.answer(pathname, await request.text(), headers);
        return new Response(body === "" ? null : body, { status });
      },
    },
  };
}

/** The Worker that stands for other Workers. */
function standInWorker({ given, surroundings }: RuntimeSetup): V4WorkerOptions {
  const classes = (surroundings?.missingClasses ?? []).map((says, index) => ({
    className: missingClassName(index),
    code: `export class ${missingClassName(index)} extends missingObject(${JSON.stringify(says)}) {}`,
  }));
  const code = [kitText("stand-ins.js"), ...classes.map((one) => one.code)].join("\n");
  return {
    name: standIns,
    compatibilityDate,
    modules: [{ type: "ESModule", path: "stand-ins.js", contents: code }],
    serviceBindings: standInServices(given),
    additionalUnboundDurableObjects: classes.map(({ className }) => ({
      className,
      useSQLite: true,
    })),
  };
}

function workerUnderTest(setup: RuntimeSetup, aheadMs: number): V4WorkerOptions {
  const { code, others, variables, objects, given, surroundings } = setup;
  const own = surroundings?.options;
  const services = Array.from(given.services.keys(), (binding) => [
    binding,
    { name: standIns, entrypoint: "Given", props: { binding } },
  ]);
  return {
    compatibilityFlags: ["no_web_socket_compression"],
    durableObjects: Object.fromEntries(
      objects.map(({ binding, className }) => [binding, { className, useSQLite: true }]),
    ),
    ...own,
    compatibilityDate: own?.compatibilityDate ?? compatibilityDate,
    name: workerName,
    modulesRoot: "/",
    modules: [...controlledModules(code, objects, aheadMs), ...others],
    bindings: { ...own?.bindings, ...JSON.parse(JSON.stringify(variables)) },
    serviceBindings: {
      ...own?.serviceBindings,
      ...Object.fromEntries(services),
      [hooksBinding]: "backend",
    },
    unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }],
  };
}

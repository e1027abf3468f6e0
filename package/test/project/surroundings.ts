import { existsSync } from "node:fs";
import { relative } from "node:path";
import type { V4WorkerOptionsShape } from "miniflare";
import type { BoundClass } from "../worker-code.ts";
import type { SortedBindings } from "./given-bindings.ts";
import { noDatabase, type WranglerProject } from "./wrangler-file.ts";

/** What the Worker under test has beside its code, as options of miniflare. */
export interface Surroundings {
  readonly options: V4WorkerOptionsShape;
  /** The Worker's own classes of objects, each with a binding that has them. */
  readonly objects: readonly BoundClass[];
  /** What is said to those who use an object of another Worker, for each such class. */
  readonly missingClasses: readonly string[];
  /** Whether anything but the objects keeps state, such as a database. */
  readonly keepsState: boolean;
  /** A sentence for each binding of the file that this machine doesn't have. */
  readonly notes: readonly string[];
}

/** The Worker that stands for what isn't there, and for functions of the test. */
export const standIns = "stand-ins";

/** What only Cloudflare has, by the names of miniflare's options. */
const onlyOfCloudflare: Readonly<Record<string, string>> = {
  ai: "Workers AI runs on Cloudflare alone",
  aiSearchNamespaces: "AI Search runs on Cloudflare alone",
  aiSearchInstances: "AI Search runs on Cloudflare alone",
  agentMemory: "agent memory is on Cloudflare alone",
  analyticsSql: "the SQL of analytics is on Cloudflare alone",
  media: "Media Transformations run on Cloudflare alone",
  mtlsCertificates: "mTLS certificates are on Cloudflare alone",
  vectorize: "Vectorize is on Cloudflare alone",
  vpcNetworks: "networks of Workers VPC are reached from Cloudflare alone",
  vpcServices: "services of Workers VPC are reached from Cloudflare alone",
  dispatchNamespaces: "dispatch namespaces are on Cloudflare alone",
};

/** Options of miniflare by names that aren't those of bindings. */
const notOfBindings = new Set(["queueConsumers", "workflowExports"]);

/** Options of miniflare for what keeps nothing but what objects keep, which are emptied one by one. */
const stateless = new Set([
  "bindings",
  "durableObjects",
  "serviceBindings",
  "hyperdrives",
  "assets",
  "email",
  "access",
  "compatibilityFlags",
  "connectHandlers",
  "cronTriggers",
]);

/**
 * The surroundings of a Worker of one's own: what its wrangler file binds, simulated on this machine, and what the test gives.
 * What can't be simulated stands there all the same, and says why when it is used.
 *
 * @param selfName the name of the Worker in this runtime; in its file it has another one
 */
export function projectSurroundings(
  project: WranglerProject,
  given: SortedBindings,
  selfName: string,
): Surroundings {
  const bound = new FileBindings(project, selfName);
  for (const name of [...Object.keys(given.variables), ...given.services.keys()]) bound.drop(name);
  bound.replaceServices();
  bound.replaceProducts();
  bound.replaceObjects();
  bound.replaceAssets();
  return bound;
}

/** The bindings of a wrangler file, which are made fit for this machine step by step. */
class FileBindings implements Surroundings {
  readonly options: V4WorkerOptionsShape;
  readonly objects: BoundClass[] = [];
  readonly missingClasses: string[] = [];
  readonly notes: string[] = [];
  readonly #config: WranglerProject["config"];
  readonly #selfName: string;

  constructor({ worker, config }: WranglerProject, selfName: string) {
    this.options = { ...worker };
    this.#config = config;
    this.#selfName = selfName;
  }

  get keepsState(): boolean {
    return this.#kinds().some(
      ([kind, bound]) => !stateless.has(kind) && Object.keys(bound).length > 0,
    );
  }

  /** Takes a binding away, of whatever kind it is. */
  drop(name: string): void {
    const { send_email: mails } = this.options.email ?? {};
    if (mails !== undefined)
      this.options.email = { send_email: mails.filter((mail) => mail.name !== name) };
    for (const [kind, bound] of this.#kinds()) {
      if (Reflect.get(bound, "binding") === name) this.options[kind] = undefined;
      else if (name in bound)
        this.options[kind] = Object.fromEntries(
          Object.entries(bound).filter(([other]) => other !== name),
        );
    }
  }

  /** Replaces what only Cloudflare has, and databases of which the file doesn't say where they are. */
  replaceProducts(): void {
    for (const [kind, bound] of this.#kinds()) {
      const why = onlyOfCloudflare[kind];
      if (why === undefined) continue;
      const name: unknown = Reflect.get(bound, "binding");
      for (const one of typeof name === "string" ? [name] : Object.keys(bound))
        this.#replace(one, why);
    }
    for (const [name, address] of Object.entries({ ...this.options.hyperdrives })) {
      if (address === noDatabase)
        this.notes.push(
          `the binding ${name} leads to no database in tests: give this hyperdrive a localConnectionString`,
        );
    }
  }

  /** Replaces the services of other Workers, and what belongs to them, because they don't run in tests. */
  replaceServices(): void {
    for (const [name, service] of Object.entries({ ...this.options.serviceBindings })) {
      if (typeof service !== "object" || !("name" in service)) continue;
      if (this.#isSelf(service.name)) this.#bindService(name, { ...service, name: this.#selfName });
      else this.#replace(name, `the Worker ${String(service.name)} doesn't run in them`);
    }
    for (const [name, { scriptName, ...workflow }] of Object.entries({
      ...this.options.workflows,
    })) {
      if (scriptName === undefined || this.#isSelf(scriptName))
        this.options.workflows = { ...this.options.workflows, [name]: workflow };
      else this.#replace(name, `the Worker ${scriptName} doesn't run in them`);
    }
    this.options.tails = [];
    this.options.streamingTails = [];
  }

  /** Replaces the objects of other Workers, and binds the Worker's own that have no binding. */
  replaceObjects(): void {
    const bound: Record<string, Exclude<DurableObjectOptions[string], string>> = {};
    for (const [binding, object] of Object.entries({ ...this.options.durableObjects })) {
      const { scriptName, ...own } = typeof object === "string" ? { className: object } : object;
      if (scriptName === undefined || this.#isSelf(scriptName)) bound[binding] = own;
      else {
        const says = this.#missing(binding, `the Worker ${scriptName} doesn't run in them`);
        const className = missingClassName(this.missingClasses.push(says) - 1);
        bound[binding] = { className, scriptName: standIns, useSQLite: true };
      }
    }
    for (const object of this.options.additionalUnboundDurableObjects ?? [])
      bound[`${unboundPrefix}${object.className}`] = object;
    this.options.additionalUnboundDurableObjects = [];
    this.options.durableObjects = bound;
    for (const [binding, { className, scriptName }] of Object.entries(bound))
      if (scriptName === undefined) this.objects.push({ binding, className });
  }

  /** Takes away assets that weren't built yet. */
  replaceAssets(): void {
    const { assets } = this.options;
    if (assets === undefined || existsSync(assets.directory)) return;
    delete this.options.assets;
    const why = `there is no folder ${relative(process.cwd(), assets.directory)}: build it first`;
    if (assets.binding === undefined) this.notes.push(`tests have no assets, because ${why}`);
    else this.#bindMissing(assets.binding, this.#missing(assets.binding, why));
  }

  #kinds(): readonly (readonly [kind: string, bound: object])[] {
    return Object.entries(this.options).flatMap(([kind, bound]) =>
      notOfBindings.has(kind) || typeof bound !== "object" || bound === null
        ? []
        : [[kind, bound] as const],
    );
  }

  #isSelf(worker: string | symbol): boolean {
    return worker === this.#config.name;
  }

  #replace(name: string, why: string): void {
    this.drop(name);
    this.#bindMissing(name, this.#missing(name, why));
  }

  #bindMissing(name: string, says: string): void {
    this.#bindService(name, { name: standIns, entrypoint: "Missing", props: { says } });
  }

  #bindService(name: string, service: ServiceOptions[string]): void {
    this.options.serviceBindings = { ...this.options.serviceBindings, [name]: service };
  }

  /** Notes that a binding is missing, and gives what is said to those who use it. */
  #missing(name: string, why: string): string {
    const says = `the binding ${name} isn't there in tests, because ${why}`;
    this.notes.push(`${says}; a test can give it in the option bindings`);
    return says;
  }
}

/** How the kit binds classes of the Worker that its file leaves unbound. */
const unboundPrefix = "DORMOUSE_TEST_OBJECT_";

/** The name of the class that stands for the objects of another Worker. */
export function missingClassName(index: number): string {
  return `Missing${index}`;
}

type DurableObjectOptions = NonNullable<V4WorkerOptionsShape["durableObjects"]>;
type ServiceOptions = NonNullable<V4WorkerOptionsShape["serviceBindings"]>;

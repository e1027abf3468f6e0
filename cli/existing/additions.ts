import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/wire-value.ts";
import { usageFailure } from "../shell.ts";

/** The objects of Dormouse: the bindings that its code uses, each with the class of the Worker that it is bound to. */
const objectClasses = [
  { name: "CHANNELS", class_name: "ChannelObject" },
  { name: "GATEWAYS", class_name: "GatewayObject" },
  { name: "USERS", class_name: "UsersObject" },
  { name: "METRICS", class_name: "MetricsObject" },
] as const;

/** What the Worker's main module has to export. */
export const exportedClasses = [
  ...objectClasses.map(({ class_name: name }) => name),
  "BackendEntrypoint",
  "RealtimeEntrypoint",
];

/** A binding as wrangler's file has it. */
type ObjectBinding = (typeof objectClasses)[number];

/** What a wrangler file lacks, so that its Worker has Dormouse's objects. */
export interface Additions {
  readonly bindings: readonly ObjectBinding[];
  /** How the file tells the platform of classes, with those that it doesn't tell of. */
  readonly classes:
    | { readonly form: "exports"; readonly names: readonly string[] }
    | { readonly form: "migrations"; readonly names: readonly string[]; readonly tag: string };
  /** The section that has them: absent for the whole file, or an environment. */
  readonly environment?: string;
  /** The environments of the file that don't get the bindings by this, because none are inherited. */
  readonly others: readonly string[];
}

/**
 * Finds what a wrangler file lacks.
 *
 * @param document    its content
 * @param environment the environment that gets the bindings; undefined for the Worker without one
 * @throws {Failure} if the file has something else in their place, or both forms, which the platform refuses
 */
export function missingFrom(document: JsonObject, environment: string | undefined): Additions {
  const environments = objectIn(document["env"]);
  const section = environment === undefined ? document : environments[environment];
  if (section === undefined || !isJsonObject(section))
    throw usageFailure(`the file has no environment ${environment}`);
  const others = Object.keys(environments).filter((name) => name !== environment);
  return {
    bindings: missingBindings(section),
    // An environment inherits both forms unless it has its own.
    classes: missingClasses(hasLifecycle(section) ? section : document),
    ...(environment !== undefined && { environment }),
    others: environment === undefined ? others : [],
  };
}

/** Whether nothing is missing. */
export function isComplete({ bindings, classes }: Additions): boolean {
  return bindings.length === 0 && classes.names.length === 0;
}

/** Whether a section says itself which classes there are. */
export function hasLifecycle(section: JsonObject): boolean {
  return section["migrations"] !== undefined || section["exports"] !== undefined;
}

function missingBindings(section: JsonObject): readonly ObjectBinding[] {
  const bound = listIn(objectIn(section["durable_objects"])["bindings"]).map(objectIn);
  return objectClasses.filter(({ name, class_name: wanted }) => {
    const found = bound.find((one) => one["name"] === name);
    if (found === undefined) return true;
    if (found["class_name"] === wanted && found["script_name"] === undefined) return false;
    throw usageFailure(
      `the binding ${name} is taken: Dormouse needs that name for its class ${wanted}. Rename yours`,
    );
  });
}

function missingClasses(section: JsonObject): Additions["classes"] {
  const [exported, migrations] = [objectIn(section["exports"]), listIn(section["migrations"])];
  const declares = Object.values(exported).some(
    (one) => objectIn(one)["type"] === "durable-object",
  );
  if (declares && migrations.length > 0)
    throw usageFailure(
      "the file has both exports and migrations, which wrangler refuses: keep one",
    );
  const names = objectClasses.map(({ class_name: name }) => name);
  if (section["exports"] !== undefined && migrations.length === 0)
    return { form: "exports", names: names.filter((name) => !isExported(exported, name)) };
  return {
    form: "migrations",
    names: names.filter((name) => !isMigrated(migrations, name)),
    tag: nextTag(migrations),
  };
}

function isExported(exported: JsonObject, name: string): boolean {
  const found = exported[name];
  if (found === undefined) return false;
  const { type, storage, state = "created" } = objectIn(found);
  if (type === "durable-object" && storage === "sqlite" && state === "created") return true;
  throw usageFailure(
    `exports.${name} isn't a class of durable objects with storage "sqlite", as Dormouse's ${name} is`,
  );
}

/** Whether the migrations have made a class, and not taken it back. */
function isMigrated(migrations: readonly JsonValue[], name: string): boolean {
  let isThere = false;
  for (const one of migrations.map(objectIn)) {
    if (listIn(one["new_classes"]).includes(name))
      throw usageFailure(
        `new_classes of a migration has ${name}, which would be without SQLite: Dormouse needs new_sqlite_classes`,
      );
    if (listIn(one["new_sqlite_classes"]).includes(name)) isThere = true;
    const renamed = listIn(one["renamed_classes"]).map(objectIn);
    const isGone = renamed.some(({ from }) => from === name);
    if (isGone || listIn(one["deleted_classes"]).includes(name)) isThere = false;
  }
  return isThere;
}

/** The tag after the last one: `v3` after `v2`, otherwise a name that no migration has. */
function nextTag(migrations: readonly JsonValue[]): string {
  const tags = migrations.map((one) => objectIn(one)["tag"]);
  const last = tags.at(-1);
  const [, number] = typeof last === "string" ? (/^v(\d{1,9})$/.exec(last) ?? []) : [];
  let tag = migrations.length === 0 ? "v1" : "dormouse-1";
  if (number !== undefined) tag = `v${Number(number) + 1}`;
  for (let again = 2; tags.includes(tag); again++) tag = `dormouse-${again}`;
  return tag;
}

/** The object of a value; an empty one for anything else, as wrangler itself names wrong types. */
export function objectIn(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

/** The array of a value; an empty one for anything else. */
export function listIn(value: JsonValue | undefined): readonly JsonValue[] {
  return value !== undefined && isJsonArray(value) ? value : [];
}

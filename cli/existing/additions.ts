import { refusal, usageFailure } from "../shell.ts";
import type { FilePart } from "./file-part.ts";

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
 * @param document    the whole file
 * @param environment the environment that gets the bindings; undefined for the Worker without one
 * @throws {Failure} if the file has something else in their place, or both forms, which the platform refuses
 */
export function missingFrom(document: FilePart, environment: string | undefined): Additions {
  const environments = document.at("env");
  const section = sectionOf(document, environment);
  if (!section.isThere)
    throw usageFailure(`${document.shown} has no environment ${environment ?? ""}`);
  const others = environments.entries().flatMap(([name]) => (name === environment ? [] : [name]));
  return {
    bindings: missingBindings(section),
    // An environment inherits both forms unless it has its own.
    classes: missingClasses(hasLifecycle(section) ? section : document),
    ...(environment !== undefined && { environment }),
    others: environment === undefined ? others : [],
  };
}

/** The part of a file that an environment is, or the whole file. */
export function sectionOf(document: FilePart, environment: string | undefined): FilePart {
  return environment === undefined ? document : document.at("env").at(environment);
}

/** Whether nothing is missing. */
export function isComplete({ bindings, classes }: Additions): boolean {
  return bindings.length === 0 && classes.names.length === 0;
}

/** Whether a section says itself which classes there are. */
export function hasLifecycle(section: FilePart): boolean {
  return section.at("migrations").isThere || section.at("exports").isThere;
}

/** The bindings to objects that a section has. */
export function boundObjects(section: FilePart): readonly FilePart[] {
  return section.at("durable_objects").at("bindings").list();
}

function missingBindings(section: FilePart): readonly ObjectBinding[] {
  const bound = boundObjects(section);
  return objectClasses.filter(({ name, class_name: wanted }) => {
    const found = bound.find((one) => one.at("name").text() === name);
    if (found === undefined) return true;
    if (found.at("class_name").text() === wanted && !found.at("script_name").isThere) return false;
    throw refusal(
      `${found.shown}: the binding ${name} is taken, and Dormouse needs that name for its class ${wanted}. Rename yours`,
    );
  });
}

function missingClasses(section: FilePart): Additions["classes"] {
  const [exported, migrations] = [section.at("exports"), section.at("migrations").list()];
  const declares = exported.entries().some(([, one]) => one.at("type").text() === "durable-object");
  if (declares && migrations.length > 0)
    throw refusal(
      `${section.shown} has both exports and migrations, which wrangler refuses: keep one`,
    );
  const names = objectClasses.map(({ class_name: name }) => name);
  if (exported.isThere && migrations.length === 0)
    return { form: "exports", names: names.filter((name) => !isExported(exported, name)) };
  const made = madeClasses(migrations);
  return {
    form: "migrations",
    names: names.filter((name) => !made.has(name)),
    tag: nextTag(migrations),
  };
}

function isExported(exported: FilePart, name: string): boolean {
  const found = exported.at(name);
  if (!found.isThere) return false;
  const [type, storage, state = "created"] = ["type", "storage", "state"].map((key) =>
    found.at(key).text(),
  );
  if (type === "durable-object" && storage === "sqlite" && state === "created") return true;
  throw refusal(
    `${found.shown} isn't a class of durable objects with storage "sqlite", as Dormouse's ${name} is`,
  );
}

/** The classes that the migrations have made, and not taken back. */
function madeClasses(migrations: readonly FilePart[]): ReadonlySet<string> {
  const made = new Set<string>();
  for (const one of migrations) {
    const plain = one.at("new_classes").texts();
    const taken = objectClasses.find(({ class_name: name }) => plain.includes(name));
    if (taken !== undefined)
      throw refusal(
        `${one.shown}.new_classes has ${taken.class_name}, which would be without SQLite: Dormouse needs new_sqlite_classes`,
      );
    for (const name of one.at("new_sqlite_classes").texts()) made.add(name);
    for (const renamed of one.at("renamed_classes").list())
      made.delete(renamed.at("from").text() ?? "");
    for (const name of one.at("deleted_classes").texts()) made.delete(name);
  }
  return made;
}

/** The tag after the last one: `v3` after `v2`, otherwise a name that no migration has. */
function nextTag(migrations: readonly FilePart[]): string {
  const tags = migrations.map((one) => one.at("tag").text());
  const [, number] = /^v(\d{1,9})$/.exec(tags.at(-1) ?? "") ?? [];
  let tag = migrations.length === 0 ? "v1" : "dormouse-1";
  if (number !== undefined) tag = `v${Number(number) + 1}`;
  for (let again = 2; tags.includes(tag); again++) tag = `dormouse-${again}`;
  return tag;
}

import { utf8Fits } from "../../protocol/bytes.ts";
import type { JsonText } from "../../protocol/json/text.ts";
import { trustedJsonText } from "../../protocol/json/text.ts";
import { areTags, type Tags } from "../../protocol/publication.ts";
import type { JsonValue } from "../../protocol/wire-value.ts";
import type { IncomingPublication, ProcedureContext } from "./definition.ts";
import { procedureLimits } from "./limits.ts";

/** The code of the channels of a namespace, as a Worker's own code has defined it, checked. */
export interface ChannelCode {
  readonly procedures: ReadonlyMap<string, RunProcedure>;
  /** The procedures that clients may call; undefined: all of them. */
  readonly clients: ReadonlySet<string> | undefined;
  /** Decides on publications; undefined if none pass the code. */
  readonly onPublish: RunOnPublish | undefined;
  readonly version: number;
  readonly migrate: ((ctx: ProcedureContext, from: number) => void) | undefined;
}

/**
 * Runs a procedure.
 *
 * @returns its answer; undefined if it gives none
 * @throws whatever the code throws, and if it gives what is no answer
 */
type RunProcedure = (ctx: ProcedureContext, args: JsonValue | undefined) => JsonText | undefined;

/**
 * Runs `onPublish`.
 *
 * @returns the data and the tags in place of those of the publication; absent ones leave them as they are
 * @throws as {@link RunProcedure} does
 */
export type RunOnPublish = (
  ctx: ProcedureContext,
  publication: IncomingPublication,
) => { readonly data?: JsonText; readonly tags?: Readonly<Record<string, string>> };

/** The outcome of {@link parseChannelCode}. */
type ParsedCode =
  | { readonly outcome: "code"; readonly code: ChannelCode }
  | { readonly outcome: "bad"; readonly problems: readonly string[] };

/**
 * Checks a definition, which any JavaScript may have made.
 *
 * @param place how the problems name it, such as `channels.auction`
 */
export function parseChannelCode(definition: unknown, place: string): ParsedCode {
  if (typeof definition !== "object" || definition === null)
    return { outcome: "bad", problems: [`${place} must be channel({ … })`] };
  const problems: string[] = [];
  const procedures = parseProcedures(definition, place, problems);
  const version: unknown = Reflect.get(definition, "version") ?? 1;
  if (typeof version !== "number" || !Number.isSafeInteger(version) || version < 1)
    problems.push(`${place}.version must be a whole number from 1 on`);
  const migrate = parseFunction(definition, "migrate", place, problems);
  const onPublish = parseFunction(definition, "onPublish", place, problems);
  if (version !== 1 && migrate === undefined)
    problems.push(`${place}.migrate is missing: it brings the keys of version 1 to the version`);
  // One that is wrong has been named.
  if (procedures.size === 0 && onPublish === undefined && problems.length === 0)
    problems.push(`${place} has neither procedures nor onPublish`);
  const clients = parseClients(definition, procedures, place, problems);
  if (problems.length > 0 || typeof version !== "number") return { outcome: "bad", problems };
  return {
    outcome: "code",
    code: {
      procedures,
      clients,
      onPublish:
        onPublish &&
        ((ctx, publication) =>
          parseChanged(Reflect.apply(onPublish, definition, [ctx, publication]))),
      version,
      migrate:
        migrate &&
        ((ctx, from) => parseNoPromise(Reflect.apply(migrate, definition, [ctx, from]), "migrate")),
    },
  };
}

function parseProcedures(
  definition: object,
  place: string,
  problems: string[],
): ReadonlyMap<string, RunProcedure> {
  const given: unknown = Reflect.get(definition, "procedures") ?? {};
  if (typeof given !== "object" || given === null) {
    problems.push(`${place}.procedures must be an object of functions`);
    return new Map();
  }
  const procedures = new Map<string, RunProcedure>();
  for (const name of Object.keys(given)) {
    const own = parseFunction(given, name, `${place}.procedures`, problems);
    if (own === undefined) {
      if (Reflect.get(given, name) === undefined)
        problems.push(`${place}.procedures.${name} is missing`);
    } else if (name === "" || !utf8Fits(name, procedureLimits.procedureNameBytesMax))
      problems.push(
        `${place}.procedures has a name that is empty or longer than ${procedureLimits.procedureNameBytesMax} bytes`,
      );
    else
      procedures.set(name, (ctx, args) =>
        parseResult(Reflect.apply(own, given, [ctx, args]), name),
      );
  }
  if (procedures.size > procedureLimits.proceduresMax)
    problems.push(`${place} has more than ${procedureLimits.proceduresMax} procedures`);
  return procedures;
}

function parseClients(
  definition: object,
  procedures: ReadonlyMap<string, RunProcedure>,
  place: string,
  problems: string[],
): ReadonlySet<string> | undefined {
  const given: unknown = Reflect.get(definition, "clients");
  if (given === undefined) return undefined;
  const names: readonly unknown[] = Array.isArray(given) ? given : [undefined];
  const known = names.filter((name) => typeof name === "string" && procedures.has(name));
  if (known.length < names.length)
    problems.push(`${place}.clients must be an array of names of procedures`);
  return new Set(known.filter((name) => typeof name === "string"));
}

/** A function of a definition; undefined if there is none, or after a problem. */
function parseFunction(
  owner: object,
  name: string,
  place: string,
  problems: string[],
): ((...args: readonly never[]) => unknown) | undefined {
  const given: unknown = Reflect.get(owner, name);
  if (given === undefined) return undefined;
  if (!parsesAsFunction(given)) {
    problems.push(`${place}.${name} must be a function`);
    return undefined;
  }
  if (Object.prototype.toString.call(given) === "[object AsyncFunction]") {
    problems.push(`${place}.${name} is async: ${noPromise}`);
    return undefined;
  }
  return given;
}

function parsesAsFunction(given: unknown): given is (...args: readonly never[]) => unknown {
  return typeof given === "function";
}

const noPromise =
  "it runs in the channel's order and can't wait. Ask whatever takes time before, in a hook or in the backend that calls, or afterwards, on an event";

/** The answer of a procedure as JSON. */
function parseResult(result: unknown, name: string): JsonText | undefined {
  if (result === undefined) return undefined;
  parseNoPromise(result, name);
  return parseJson(result, `the result of ${name}`);
}

/** @throws if something is a promise */
function parseNoPromise(result: unknown, name: string): void {
  if (typeof result !== "object" || result === null || !("then" in result)) return;
  // Whatever the function does later has no effect, and its failure would end the object.
  Promise.resolve(result).catch(() => undefined);
  throw new TypeError(`${name} has returned a promise: ${noPromise}`);
}

/** @throws if JSON can't hold it */
export function parseJson(value: unknown, what: string): JsonText {
  const text: unknown = JSON.stringify(value);
  if (typeof text !== "string") throw new TypeError(`${what} is nothing that JSON can hold`);
  return trustedJsonText(text);
}

function parseChanged(changed: unknown): ReturnType<RunOnPublish> {
  if (changed === undefined) return {};
  parseNoPromise(changed, "onPublish");
  if (typeof changed !== "object" || changed === null)
    throw new TypeError("onPublish must return nothing, or { data } or { tags }");
  const data: unknown = Reflect.get(changed, "data");
  const tags: unknown = Reflect.get(changed, "tags");
  return {
    ...(data !== undefined && { data: parseJson(data, "the data of onPublish") }),
    ...(tags !== undefined && { tags: parseTags(tags) }),
  };
}

/** A copy of tags, which the code may change later. @throws if a value is no text */
export function parseTags(tags: unknown): Tags {
  const own = typeof tags === "object" && tags !== null ? { ...tags } : undefined;
  if (own === undefined || !areTags(own)) throw new TypeError("tags must be an object of strings");
  return own;
}

import { posix } from "node:path";
import { isJsonArray, isJsonObject, type JsonValue } from "../../../src/protocol/wire-value.ts";
import type { Variables } from "./interpolation.ts";
import type { Part } from "./project.ts";

/** Something that is mounted into a container. */
export interface Mount {
  /** Where it is in the container, normalised. */
  readonly target: string;
  readonly from:
    /** A file or folder beside the compose file, as written there. */
    | { readonly kind: "path"; readonly path: string; readonly part: Part }
    | { readonly kind: "content"; readonly content: string }
    /** From elsewhere: the words complete "… is in". */
    | { readonly kind: "elsewhere"; readonly place: string };
}

/** Fills variables into a scalar; "" if one isn't set. */
type TextOf = (value: JsonValue) => string;

/** Reads `volumes` of a service. */
export function volumeMounts(part: Part, text: TextOf): readonly Mount[] {
  const { volumes = [] } = part.values;
  return (isJsonArray(volumes) ? volumes : []).flatMap((volume): readonly Mount[] => {
    if (!isJsonObject(volume)) return shortVolume(text(volume), part);
    const { type = "volume", source = "", target = "" } = volume;
    if (type === "tmpfs") return [];
    return [{ target: normal(text(target)), from: sourceOf(text(source), type === "bind", part) }];
  });
}

function shortVolume(volume: string, part: Part): readonly Mount[] {
  if (volume === "") return [];
  // A drive of Windows has a colon as well.
  const [, source, target] = /^((?:[a-z]:[\\/])?[^:]+):([^:]+)(?::[^:]*)?$/i.exec(volume) ?? [];
  if (source === undefined || target === undefined)
    return [{ target: normal(volume), from: { kind: "elsewhere", place: "a volume" } }];
  return [{ target: normal(target), from: sourceOf(source, hostPath.test(source), part) }];
}

const hostPath = /^(?:[./~\\]|[a-z]:[\\/])/i;

function sourceOf(source: string, isPath: boolean, part: Part): Mount["from"] {
  return isPath
    ? { kind: "path", path: source, part }
    : { kind: "elsewhere", place: `the volume ${source}` };
}

/**
 * Reads `configs` or `secrets` of a service.
 *
 * @param known  those at the top level
 * @param folder where one without a target is mounted
 * @param given  the variables of the surroundings
 */
export function grantMounts(
  granted: JsonValue,
  known: ReadonlyMap<string, Part>,
  folder: string,
  given: Variables,
  text: TextOf,
): readonly Mount[] {
  return (isJsonArray(granted) ? granted : []).map((one): Mount => {
    const { source = "", target = source } = isJsonObject(one) ? one : { source: one };
    const name = text(source);
    return {
      target: posix.resolve(folder, text(target)),
      from: definedBy(name, known.get(name), given, text),
    };
  });
}

function definedBy(
  name: string,
  part: Part | undefined,
  given: Variables,
  text: TextOf,
): Mount["from"] {
  const { file, content, environment } = part?.values ?? {};
  if (file !== undefined && part !== undefined) return { kind: "path", path: text(file), part };
  if (content !== undefined) return { kind: "content", content: text(content) };
  const value = environment === undefined ? undefined : given[text(environment)];
  return value === undefined
    ? { kind: "elsewhere", place: `${name}, whose content isn't here` }
    : { kind: "content", content: value };
}

/** The mount with a file of the container, and the file's path below the mounted folder; the deepest one counts. */
export function mountOf(
  path: string,
  mounts: readonly Mount[],
): { readonly mount: Mount; readonly below: string } | undefined {
  const found = mounts
    .filter(({ target }) => path === target || path.startsWith(target === "/" ? "/" : `${target}/`))
    .toSorted((one, other) => other.target.length - one.target.length)[0];
  return found && { mount: found, below: path.slice(found.target.length).replace(/^\//, "") };
}

function normal(target: string): string {
  return posix.resolve("/", target);
}

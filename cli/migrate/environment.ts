/**
 * Reads the configuration from Centrifugo's environment variables: `CENTRIFUGO_` and the path in capitals, with `_`
 * between its parts, in version 6; `CENTRIFUGO_` and the flat name in versions 4 and 5.
 */
import { isJsonArray, isJsonObject, type JsonObject } from "../../src/protocol/wire-value.ts";
import { shown } from "../text/printable.ts";
import { placeOf } from "./flat-names.ts";
import { readValue } from "./go-value.ts";
import { centrifugoOptions, optionAt, type Options } from "./options.ts";
import { readSections } from "./read-tree.ts";
import { parsePath, type Path, pathText, Tree } from "./tree.ts";

/** Called with the path of a value in the document, and the name of the variable that it is of. */
type OnValue = (path: string, name: string) => void;

/**
 * Puts the variables over a configuration, which is what Centrifugo does.
 *
 * @param document the configuration of a file; {} if there is none
 * @param variables all of an environment; only those of Centrifugo are taken
 */
export function withEnvironment(
  document: JsonObject,
  variables: Readonly<Record<string, string | undefined>>,
  onValue: OnValue = () => {},
): JsonObject {
  const tree = new Tree(document);
  const given = Object.entries(variables)
    // An empty variable counts as one that isn't set.
    .flatMap(([name, text = ""]) =>
      name.startsWith(prefix) && text !== "" ? [[name.slice(prefix.length), text] as const] : [],
    )
    // A list of namespaces has to be there before the options of each of them.
    .sort(([one], [other]) => one.length - other.length);
  for (const [name, text] of given) {
    const path = pathOf(name, text, tree);
    if (path === undefined) continue;
    for (const at of putText(tree, path, text)) onValue(pathText(at), `${prefix}${name}`);
  }
  return tree.root;
}

/**
 * Puts a value that is a text, of a variable or a flag, into a document. Names in a list of sections come after the
 * sections that are there. What isn't of the option's kind stays a text.
 *
 * @param path in the document, where a flat name is a path of its own
 * @returns the paths of the values that the text has become
 */
export function putText(tree: Tree, path: Path, text: string): readonly Path[] {
  const place = placeOf(String(path[0]));
  const option = optionAt(path.length === 1 && place !== undefined ? parsePath(place) : path);
  if (option === undefined || option.kind === "section") tree.set(path, text);
  else if (option.kind === "sections") return putSections(tree, path, text);
  else {
    const read = readValue(option.kind, text, "text");
    tree.set(path, read.outcome === "value" ? read.value : text);
  }
  return [path];
}

function putSections(tree: Tree, path: Path, text: string): readonly Path[] {
  const given = tree.get(path) ?? [];
  const before = isJsonArray(given) && !text.trim().startsWith("[") ? given : [];
  const list = readSections(text, "text");
  tree.set(path, list === undefined ? text : [...before, ...list]);
  return list === undefined || before.length === 0
    ? [path]
    : list.map((_, index) => path.concat(before.length + index));
}

const prefix = "CENTRIFUGO_";

/** The path in the document; undefined for a variable that isn't an option. */
function pathOf(name: string, text: string, tree: Tree): Path | undefined {
  const { values, sections } = namesIn(tree);
  const exact = values.get(name);
  if (exact !== undefined) return exact;
  const flat = name.toLowerCase();
  const [section] = [...sections]
    .filter(([one]) => name.startsWith(`${one}_`))
    .sort(([one], [other]) => other.length - one.length);
  const isFlat = placeOf(flat) !== undefined || optionAt([flat]) !== undefined;
  if (isOfKubernetes(name, text, isFlat || section !== undefined)) return undefined;
  if (isFlat || section === undefined) return [flat];
  return [...section[1], flat.slice(section[0].length + 1)];
}

/** Kubernetes adds variables for each service; `CENTRIFUGO_VAR_` is for texts within values. */
function isOfKubernetes(name: string, text: string, isOption: boolean): boolean {
  if (name.startsWith("VAR_") || text.startsWith("tcp://")) return true;
  return !isOption && /^(?:[A-Z0-9_]+_)?(?:PORT|SERVICE_)/.test(name);
}

interface Names {
  readonly values: Map<string, Path>;
  readonly sections: Map<string, Path>;
  /** The lists of sections, of which each has variables of its own. */
  readonly lists: readonly {
    readonly path: Path;
    readonly variable: string;
    readonly options: Options;
  }[];
}

/** The names of the variables of all options; an element of a list is called by its name. */
function namesIn(tree: Tree): Names {
  const all = outsideOfLists;
  const inLists = all.lists.flatMap(({ path, variable, options }) => {
    const list = tree.get(path) ?? [];
    return (isJsonArray(list) ? [...list.entries()] : []).flatMap(([index, one]) => {
      if (!isJsonObject(one)) return [];
      const at = [...path, index];
      const own = `${variable}_${variableOf(shown(one["name"]))}`;
      const names = namesOf(options, at, `${own}_`);
      names.sections.set(own, at);
      return [names];
    });
  });
  return {
    values: new Map([all, ...inLists].flatMap(({ values }) => Array.from(values))),
    sections: new Map([all, ...inLists].flatMap(({ sections }) => Array.from(sections))),
    lists: all.lists,
  };
}

function namesOf(options: Options, above: Path, variables: string): Names {
  const values = new Map<string, Path>();
  const sections = new Map<string, Path>();
  const lists: Names["lists"][number][] = [];
  for (const [name, option] of options) {
    const variable = `${variables}${variableOf(name)}`;
    const path = [...above, name];
    if (option.kind !== "section") values.set(variable, path);
    if (option.kind === "sections") lists.push({ path, variable, options: option.options });
    if (option.kind !== "section") continue;
    sections.set(variable, path);
    const below = namesOf(option.options, path, `${variable}_`);
    for (const [one, at] of below.values) values.set(one, at);
    for (const [one, at] of below.sections) sections.set(one, at);
    lists.push(...below.lists);
  }
  return { values, sections, lists };
}

function variableOf(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z0-9]/g, "_");
}

const outsideOfLists = namesOf(centrifugoOptions, [], "");

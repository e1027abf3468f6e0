import { existsSync, statSync } from "node:fs";
import { basename, posix, resolve } from "node:path";
import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../../src/protocol/wire-value.ts";
import { parseFile } from "../../configuration/document.ts";
import { readTextFile } from "../../configuration/text-file.ts";
import { shown } from "../../text/printable.ts";
import { type CommandLine, readCommandLine, splitWords } from "./command-line.ts";
import { interpolated, type Variables } from "./interpolation.ts";
import { grantMounts, type Mount, mountOf, volumeMounts } from "./mounts.ts";
import { besideOf, type Part, type Project, type Service } from "./project.ts";
import { variablesOfFile } from "./variable-file.ts";

/** All that a service of a compose file gives Centrifugo. */
export interface ServiceSource {
  /** The configuration's file, and how a person names it; absent if the service has none. */
  readonly config?: { readonly document: JsonObject; readonly file: string };
  readonly variables: Readonly<Record<string, string>>;
  /** Where each variable stands. */
  readonly files: ReadonlyMap<string, string>;
  readonly flags: CommandLine["flags"];
  /** Sentences about what wasn't read. */
  readonly unread: readonly string[];
  /** Sentences about defaults of variables that aren't set here. */
  readonly byDefault: readonly string[];
}

/**
 * Reads a service.
 *
 * @param given the variables of the surroundings, which the compose file may name
 */
export function readService(service: Service, project: Project, given: Variables): ServiceSource {
  const reading = new ServiceReading(service, project, given);
  return reading.read();
}

/** Whether a service runs Centrifugo, by its image or its program. */
export function runsCentrifugo({ parts }: Service, given: Variables): boolean {
  const value = (name: string) =>
    parts.map(({ values }) => values[name]).findLast((one) => one !== undefined && one !== null);
  const image = value("image");
  if (image !== undefined && imageShape.test(interpolated(shown(image), given).text)) return true;
  const [entrypoint, command] = [value("entrypoint"), value("command")].map((one) =>
    one === undefined ? [] : wordsIn(one, (text) => interpolated(text, given).text),
  );
  const words = [...(entrypoint ?? []), ...(command ?? [])];
  return words[0]?.startsWith("-") === false && readCommandLine(words) !== undefined;
}

/** Such as `centrifugo/centrifugo:v6`, also from another registry. */
const imageShape = /(?:^|\/)centrifugo(?:-pro)?(?:[:@]|$)/;

function wordsIn(value: JsonValue, text: (given: string) => string): readonly string[] {
  if (isJsonArray(value)) return value.map((one) => text(shown(one)));
  return value === null ? [] : splitWords(text(shown(value)));
}

class ServiceReading {
  readonly #service: Service;
  readonly #project: Project;
  readonly #given: Variables;
  readonly #variables: Record<string, string> = {};
  readonly #files = new Map<string, string>();
  readonly #unread: string[] = [];
  /** Sentences about variables, by their names: a later one in another file takes their place. */
  readonly #lacking = new Map<string, string>();
  readonly #byDefault = new Map<string, string>();

  constructor(service: Service, project: Project, given: Variables) {
    this.#service = service;
    this.#project = project;
    this.#given = given;
  }

  read(): ServiceSource {
    this.#unread.push(...this.#project.unread, ...this.#service.unread);
    // The environment counts more than any file of variables, also where a service extends another one.
    for (const part of this.#service.parts) this.#variableFiles(part);
    for (const part of this.#service.parts) this.#environment(part);
    const { flags, configPath, unread } = this.#commandLine();
    this.#unread.push(...unread.map((one) => `${this.#where("command")} ${one}`));
    const config = this.#config(configPath);
    return {
      ...(config && { config }),
      variables: this.#variables,
      files: this.#files,
      flags,
      unread: [...this.#unread, ...this.#lacking.values()],
      byDefault: [...this.#byDefault.values()],
    };
  }

  #variableFiles(part: Part): void {
    const { env_file: given = [] } = part.values;
    for (const one of isJsonArray(given) ? given : [given]) {
      const entry: JsonObject = isJsonObject(one) ? one : { path: one };
      const { path, required = true, format } = entry;
      if (typeof path !== "string") {
        this.#unread.push(`${this.#where("env_file")} has an entry without a path`);
        continue;
      }
      const name = this.#text(path, "env_file");
      if (name === undefined) continue;
      const at = resolve(part.folder, name);
      const file = besideOf(part.file, name);
      if (existsSync(at)) this.#variableFile(at, file, format === "raw");
      else if (required !== false)
        this.#unread.push(`${this.#where("env_file")} names ${file}, which isn't there`);
    }
  }

  #variableFile(at: string, file: string, isRaw: boolean): void {
    const text = this.#textOf(at, file);
    if (text === undefined) return;
    const { variables, missing, byDefault } = variablesOfFile(text, this.#given, isRaw);
    for (const [name, value] of Object.entries(variables)) this.#set(name, value, file);
    for (const [name, others] of missing) this.#lacks(name, others, file);
    for (const [name, others] of byDefault) this.#defaulted(name, others, file);
  }

  #environment({ values, file }: Part): void {
    for (const [name, given] of pairsOf(values["environment"] ?? {})) {
      if (given === undefined) {
        const own = this.#given[name];
        if (own === undefined) this.#lacks(name, [name], file);
        else this.#set(name, own, file);
        continue;
      }
      if (typeof given === "number" && !isExact(given)) {
        this.#lack(name, `${name} in ${file} is a number of too many digits: write it in quotes`);
        continue;
      }
      const { text, missing, byDefault } = interpolated(shownScalar(given), this.#given);
      if (missing.length > 0) this.#lacks(name, missing, file);
      else this.#set(name, text, file);
      this.#defaulted(name, byDefault, file);
    }
  }

  #set(name: string, value: string, file: string): void {
    this.#variables[name] = value;
    this.#files.set(name, file);
    this.#lacking.delete(name);
    this.#byDefault.delete(name);
  }

  #lacks(name: string, others: readonly string[], file: string): void {
    this.#lack(name, `${name} in ${file} needs ${others.join(", ")}, which ${notSet}`);
  }

  #lack(name: string, sentence: string): void {
    delete this.#variables[name];
    if (isOption(name)) this.#lacking.set(name, sentence);
  }

  #defaulted(name: string, others: readonly string[], file: string): void {
    if (!isOption(name) || others.length === 0) return;
    const given = others.join(", ");
    this.#byDefault.set(
      name,
      `look at ${name} in ${file}: its default counted, because ${given} isn't set here`,
    );
  }

  #commandLine(): CommandLine {
    const entrypoint = this.#words("entrypoint");
    const command = this.#words("command");
    const read = readCommandLine([...entrypoint, ...command]);
    if (this.#last("build") !== undefined)
      this.#unread.push(
        `${this.#where("build")} makes the image, and what is in the image wasn't read`,
      );
    return read ?? { flags: [], unread: ["runs a script or another program, which wasn't read"] };
  }

  #words(key: string): readonly string[] {
    const value = this.#last(key)?.value ?? null;
    return wordsIn(value, (text) => this.#text(text, key) ?? "");
  }

  /** The configuration that is mounted where Centrifugo looks for it. */
  #config(named: string | undefined): ServiceSource["config"] {
    const folder = this.#text(
      shownScalar(this.#last("working_dir")?.value ?? "/centrifugo"),
      "working_dir",
    );
    const path = posix.resolve("/", folder ?? "", named ?? "config.json");
    const mounts = this.#mounts();
    if (this.#last("volumes_from") !== undefined)
      this.#unread.push(`${this.#where("volumes_from")} mounts what wasn't read`);
    const found = mountOf(path, mounts);
    for (const { target } of mounts)
      if (/\.(?:json|ya?ml|toml)$/i.test(target) && target !== found?.mount.target)
        this.#unread.push(`${target} of ${this.#service.name} wasn't read: no flag -c names it`);
    if (found === undefined) {
      if (named !== undefined)
        this.#unread.push(`${path} of ${this.#service.name} wasn't read: nothing mounts it`);
      return undefined;
    }
    const { from } = found.mount;
    switch (from.kind) {
      case "content":
        return this.#parsed(path, from.content, `${path} of ${this.#service.name}`);
      case "elsewhere":
        this.#unread.push(`${path} of ${this.#service.name} wasn't read: it is in ${from.place}`);
        return undefined;
      case "path":
        return this.#configFile(path, from, found.below, named !== undefined);
    }
  }

  #configFile(
    path: string,
    { path: source, part }: Extract<Mount["from"], { readonly kind: "path" }>,
    below: string,
    isNamed: boolean,
  ): ServiceSource["config"] {
    const name = below === "" ? source : `${source.replace(/\/$/, "")}/${below}`;
    const at = resolve(part.folder, name);
    const file = besideOf(part.file, name);
    if (!existsSync(at) || statSync(at).isDirectory()) {
      if (isNamed || below === "")
        this.#unread.push(`${path} of ${this.#service.name} wasn't read: ${file} isn't there`);
      return undefined;
    }
    const text = this.#textOf(at, file);
    return text === undefined ? undefined : this.#parsed(path, text, file);
  }

  #parsed(path: string, text: string, file: string): ServiceSource["config"] {
    const parsed = parseFile(basename(path), text);
    if (parsed.outcome === "document") return { document: parsed.document, file };
    this.#unread.push(`${file} wasn't read: ${parsed.problem}`);
    return undefined;
  }

  #mounts(): readonly Mount[] {
    const text = (key: string) => (value: JsonValue) => this.#text(shownScalar(value), key) ?? "";
    const granted = (part: Part, key: "configs" | "secrets", folder: string) =>
      grantMounts(part.values[key] ?? [], this.#project[key], folder, this.#given, text(key));
    return this.#service.parts.flatMap((part) => [
      ...volumeMounts(part, text("volumes")),
      ...granted(part, "configs", "/"),
      ...granted(part, "secrets", "/run/secrets"),
    ]);
  }

  #textOf(at: string, file: string): string | undefined {
    const read = readTextFile(at, file);
    if (read.outcome === "text") return read.text;
    this.#unread.push(read.problem);
    return undefined;
  }

  /** A text with its variables; undefined, and named, if it needs one that isn't set. */
  #text(text: string, key: string): string | undefined {
    const read = interpolated(text, this.#given);
    if (read.missing.length === 0) return read.text;
    this.#unread.push(`${this.#where(key)} needs ${read.missing.join(", ")}, which ${notSet}`);
    return undefined;
  }

  #last(key: string): { readonly value: JsonValue; readonly part: Part } | undefined {
    return this.#service.parts
      .flatMap((part) => {
        const value = part.values[key];
        return value === undefined || value === null ? [] : [{ value, part }];
      })
      .at(-1);
  }

  #where(key: string): string {
    return `${key} of ${this.#service.name} in ${this.#last(key)?.part.file ?? this.#file()}`;
  }

  #file(): string {
    return this.#service.parts.at(-1)?.file ?? "";
  }
}

/** The variables as a map, or as a list of `NAME=value`; undefined for one whose value comes from elsewhere. */
function pairsOf(environment: JsonValue): readonly (readonly [string, JsonValue | undefined])[] {
  if (isJsonObject(environment))
    return Object.entries(environment).map(([name, value]) => [name, value ?? undefined]);
  return (isJsonArray(environment) ? environment : []).map((line) => {
    const [, name = "", value] = /^([^=]+)(?:=(.*))?$/s.exec(shownScalar(line)) ?? [];
    return [name.trim(), value];
  });
}

function shownScalar(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

const notSet = "isn't set here: set it, or name the file with it by --env-file";

function isExact(value: number): boolean {
  return !Number.isInteger(value) || Number.isSafeInteger(value);
}

function isOption(name: string): boolean {
  return name.startsWith("CENTRIFUGO_");
}

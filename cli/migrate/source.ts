import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { isJsonObject, type JsonObject } from "../../src/protocol/wire-value.ts";
import { readDocument, readText } from "../configuration/document.ts";
import { type Shell, usageFailure } from "../shell.ts";
import { shown } from "../text/printable.ts";
import type { Variables } from "./compose/interpolation.ts";
import { type Project, projectOf, type Service, serviceOf } from "./compose/project.ts";
import { readService, runsCentrifugo, type ServiceSource } from "./compose/service.ts";

import { findServer } from "./pusher/find-server.ts";
import type { FoundServer } from "./pusher/found-server.ts";
import { readReverb } from "./pusher/reverb.ts";
import { putText, withEnvironment } from "./environment.ts";
import { withPlainNames } from "./plain-names.ts";
import type { Origins } from "./read-document.ts";
import { pathText, Tree } from "./tree.ts";

/** Everything that Centrifugo's configuration is read from. */
export interface Source extends Origins {
  readonly document: JsonObject;
  /** Sentences about what may belong to the configuration, and wasn't read. */
  readonly unread: readonly string[];
  /** Sentences about what a person should look at. */
  readonly todo: readonly string[];
}

/** What the command line names. */
export interface Named {
  /** A configuration, or a compose file. */
  readonly file?: string;
  /** Of a compose file. */
  readonly service?: string;
  /** A file of variables. */
  readonly envFile?: string;
  /** Whether the variables of the environment count, too. */
  readonly environment: boolean;
}

/**
 * Reads what the command line names, the variables over the configuration.
 *
 * @throws {Failure} if something isn't there, or isn't what it should be
 */
export function readSource(named: Named, shell: Shell): Source {
  const { file } = named;
  const given = variablesOf(named.envFile, shell);
  const read = file === undefined ? {} : readDocument(file, shell);
  const { services } = read;
  const texts = new Map<string, string>();
  const base =
    file !== undefined && services !== undefined && isJsonObject(services)
      ? composed(read, { ...named, file }, given, shell, texts)
      : { document: withPlainNames(read), file: file ?? "the environment", unread: [], todo: [] };
  const withFile = withEnvironment(base.document, given, (path, name) =>
    texts.set(path, `${name} in ${named.envFile}`),
  );
  const document = named.environment
    ? withEnvironment(withFile, shell.environment, (path, name) =>
        texts.set(path, `${name} in the environment`),
      )
    : withFile;
  return { ...base, document, texts };
}

/**
 * The server of the Pusher protocol that the command line names.
 *
 * @returns undefined if it names something else, such as Centrifugo
 * @throws {Failure} if something isn't there, or isn't what it should be
 */
export function pusherServer(named: Named, shell: Shell): FoundServer | undefined {
  const { file } = named;
  const given = {
    ...variablesOf(named.envFile, shell),
    ...(named.environment && shell.environment),
  };
  if (file === undefined || !file.endsWith(".php"))
    return findServer(file === undefined ? undefined : readDocument(file, shell), given);
  const path = resolve(shell.folder, file);
  if (!existsSync(path)) throw usageFailure(`${file} doesn't exist`);
  const server = readReverb(readText(path, file), given);
  if (server !== undefined) return server;
  throw usageFailure(`${file} isn't Laravel's config/reverb.php: it returns no apps`);
}

function variablesOf(envFile: string | undefined, shell: Shell): Variables {
  if (envFile === undefined) return {};
  const path = resolve(shell.folder, envFile);
  if (!existsSync(path)) throw usageFailure(`${envFile} doesn't exist`);
  return parseEnv(readText(path, envFile));
}

/** Reads the service of Centrifugo in a compose file: its configuration, its variables over it, and its flags over both. */
function composed(
  read: JsonObject,
  { file, service }: Named & { readonly file: string },
  envFile: Variables,
  shell: Shell,
  texts: Map<string, string>,
): Omit<Source, "texts"> {
  const folder = dirname(resolve(shell.folder, file));
  const beside = join(folder, ".env");
  const given: Variables = {
    ...(existsSync(beside) && parseEnv(readText(beside, ".env"))),
    ...envFile,
    ...shell.environment,
  };
  const project = projectOf(read, file, folder);
  const chosen = chosenService(project, given, file, service);
  const source = readService(chosen, project, given);
  if (saysNothing(source))
    throw usageFailure(
      `${file} gives Centrifugo no configuration: neither variables of CENTRIFUGO_, nor flags, nor a mounted file`,
    );
  const document = withEnvironment(
    withPlainNames(source.config?.document ?? {}),
    source.variables,
    (path, name) => texts.set(path, `${name} in ${source.files.get(name) ?? file}`),
  );
  const tree = new Tree(document);
  for (const { flag, path, value } of source.flags) {
    for (const at of putText(tree, path, value))
      texts.set(pathText(at), `${flag} in the command of ${file}`);
  }
  return {
    document: tree.root,
    file: source.config?.file ?? file,
    unread: [...source.unread, ...overrides(folder, file, chosen, shell)],
    todo: source.byDefault,
  };
}

function saysNothing({ config, variables, flags, unread }: ServiceSource): boolean {
  const names = Object.keys(variables).filter((name) => name.startsWith("CENTRIFUGO_"));
  return config === undefined && names.length + flags.length + unread.length === 0;
}

/** @throws {Failure} if not exactly one service is meant */
function chosenService(
  project: Project,
  given: Variables,
  file: string,
  named: string | undefined,
): Service {
  const all = Array.from(project.services, ([name, part]) => serviceOf(name, part, project));
  const extended = new Set(
    all.flatMap(({ name, parts }) =>
      parts.flatMap((part) =>
        [...project.services]
          .filter(([other, one]) => one === part && other !== name)
          .map(([other]) => other),
      ),
    ),
  );
  const found =
    named === undefined
      ? all.filter((one) => runsCentrifugo(one, given) && !extended.has(one.name))
      : all.filter(({ name }) => name === named);
  const [first, ...others] = found;
  if (first === undefined)
    throw usageFailure(
      named === undefined
        ? `${file} has no service with an image of Centrifugo`
        : `${file} has no service ${shown(named)}`,
    );
  if (others.length > 0)
    throw usageFailure(
      `${file} has several services of Centrifugo, name one with --service: ${found.map(({ name }) => shown(name)).join(", ")}`,
    );
  return first;
}

/** Names a file that Compose puts over the named one unless it is told otherwise, if it is about the service. */
function overrides(
  folder: string,
  file: string,
  { name }: Service,
  shell: Shell,
): readonly string[] {
  if (!/^(?:docker-)?compose\.ya?ml$/.test(basename(file))) return [];
  return ["compose.override", "docker-compose.override"]
    .flatMap((one) => [`${one}.yml`, `${one}.yaml`])
    .filter((one) => existsSync(join(folder, one)))
    .flatMap((one) => {
      const { services = {} } = readDocument(join(folder, one), shell);
      const isMeant = isJsonObject(services) && Object.hasOwn(services, name);
      return isMeant
        ? [`${one} changes ${name} and wasn't read: migrate what docker compose config prints`]
        : [];
    });
}

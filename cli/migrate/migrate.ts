import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, statSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { Command } from "commander";
import type { JsonObject } from "../../src/protocol/wire-value.ts";
import { isThere, readDocument } from "../configuration/document.ts";
import { writeFiles } from "../configuration/write-files.ts";
import { type Conversion, convert, type Row } from "./conversion.ts";
import { convertServer } from "./pusher/convert-server.ts";
import { type Named, pusherServer, readSource } from "./source.ts";
import { pathText, Tree } from "./tree.ts";
import { secretsFile, workerFile } from "./worker-files.ts";
import { editorSchema, packageRoot, workerModule } from "../package-root.ts";
import { shown } from "../text/printable.ts";
import { exitCodes, paintOf, refusal, type Shell, usageFailure } from "../shell.ts";
import { table } from "../text/table.ts";

interface MigrateOptions {
  readonly environment?: boolean;
  readonly envFile?: string;
  readonly service?: string;
  readonly out: string;
  readonly name: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

/**
 * `dormouse migrate`: converts a configuration of Centrifugo, or of a server of the Pusher protocol, into a `wrangler.jsonc` and
 * a file of secrets.
 */
export function migrateCommand(shell: Shell): Command {
  return new Command("migrate")
    .description("convert a configuration of Centrifugo, Laravel Reverb, Pusher or soketi")
    .argument(
      "[file]",
      "Centrifugo's configuration (JSON, YAML or TOML), a compose file, config/reverb.php, or soketi's JSON",
    )
    .option("--environment", "take the server's variables of the environment as well")
    .option(
      "--env-file <file>",
      "take variables of this file as well, also for ${…} in a compose file",
    )
    .option("--service <name>", "the service of a compose file, if several run Centrifugo")
    .option("--out <folder>", "where the files are written", ".")
    .option("--name <name>", "the Worker's name", "dormouse")
    .option("--dry-run", "print the table, and write nothing")
    .option("--force", "replace files that exist")
    .option("--json", "print the table as JSON")
    .addHelpText(
      "after",
      `
Writes wrangler.jsonc, and .dev.vars.migrated with the secrets, which only you may read. Of a consumer of the type postgresql
it makes the command line of dormouse outbox, and .dev.vars.outbox with its secrets. The table says of each key what
became of it: a secret, done by the platform, not there, or kept. A key that Dormouse doesn't have, and that kept
clients from something, stays in the file; the server refuses the configuration until you have decided. Of a compose file,
the service of Centrifugo is read with its variables, env_file, flags and mounted configuration; what can't be read is named.

Of an application that speaks to Reverb or Pusher, its .env is read, of Reverb config/reverb.php as well, without PHP; of soketi its
JSON and its variables. Each application becomes an entry of pusher.apps with a namespace of its own.

Examples:
  dormouse migrate config.json --dry-run
  dormouse migrate centrifugo.yaml --out dormouse
  dormouse migrate --env-file centrifugo.env
  dormouse migrate compose.yaml
  dormouse migrate config/reverb.php --env-file .env
  npm run deploy -- --config wrangler.jsonc --secrets-file .dev.vars.migrated`,
    )
    .action((file: string | undefined, options: MigrateOptions) => {
      checkOut(options.out, shell);
      const { environment = false, envFile, service } = options;
      if (file === undefined && !environment && envFile === undefined)
        throw usageFailure("name Centrifugo's configuration, or use --environment or --env-file");
      const named = {
        environment,
        ...(file !== undefined && { file }),
        ...(envFile !== undefined && { envFile }),
        ...(service !== undefined && { service }),
      };
      const { conversion, unread, others } = convertNamed(named, shell);
      const written = options.dryRun === true ? [] : write(conversion, options, shell);
      const { rows } = conversion;
      const report = { rows, unread, todo: [...conversion.todo, ...others], written };
      if (options.json === true) shell.print(JSON.stringify(report));
      else print(report, shell);
      if (unread.length > 0 || rows.some(({ outcome }) => outcome === "decide"))
        process.exitCode = exitCodes.refused;
    });
}

/** The configuration made of the sources that the command line names. */
interface Converted {
  readonly conversion: Conversion;
  /** Sentences about what wasn't read, although it may belong to the configuration. */
  readonly unread: readonly string[];
  /** Sentences about what is to be done, beside those of the conversion. */
  readonly others: readonly string[];
}

function freshSecret(): string {
  return randomBytes(32).toString("hex");
}

function convertNamed(named: Named, shell: Shell): Converted {
  const server = pusherServer(named, shell);
  if (server !== undefined)
    return {
      conversion: convertServer(server, freshSecret),
      unread: server.unread,
      others: [],
    };
  const source = readSource(named, shell);
  const conversion = convert(source.document, freshSecret, source);
  const unread = [...source.unread, ...unfilled(conversion.config)];
  refuseOthers(conversion.rows, named.file ?? "the environment", unread);
  return { conversion, unread, others: source.todo };
}

/** What the command tells. */
interface Report {
  readonly rows: readonly Row[];
  /** Sentences about what wasn't read, although it may belong to the configuration. */
  readonly unread: readonly string[];
  readonly todo: readonly string[];
  /** The names of the written files. */
  readonly written: readonly string[];
}

/** Names texts into which Centrifugo, or a program before it, fills a variable. */
function unfilled(config: JsonObject): readonly string[] {
  return new Tree(config).leaves().flatMap(([path, value]) => {
    const [, name] = /\$\{(\w{1,64})[^}]*\}/.exec(JSON.stringify(value)) ?? [];
    const place = shown(pathText(path));
    return name === undefined
      ? []
      : [`${place} has \${${name}}, which Dormouse doesn't fill in: write its value there`];
  });
}

/** @throws {Failure} if nothing was of Centrifugo: the conversion would be a valid configuration that means nothing */
function refuseOthers(rows: readonly Row[], source: string, unread: readonly string[]): void {
  if (!rows.every(isUnknown)) return;
  if (unread.length > 0)
    throw refusal(`nothing of Centrifugo's configuration was read: ${unread.join("; ")}`);
  const names = rows.slice(0, 3).map(({ key }) => shown(key));
  const has = names.length === 0 ? "" : `; it has ${names.join(", ")}`;
  throw usageFailure(`nothing in ${source} is an option of Centrifugo 4, 5 or 6${has}`);
}

/** Whether a key tells nothing of Centrifugo; many files have a name. */
function isUnknown({ key, outcome, reason }: Row): boolean {
  return key === "name" || (outcome === "absent" && reason.startsWith("is unknown"));
}

/** @throws {Failure} if `--out` names a file, which people expect of an option of that name */
function checkOut(out: string, shell: Shell): void {
  const path = resolve(shell.folder, out);
  const isFile = existsSync(path)
    ? !statSync(path).isDirectory()
    : /\.(?:jsonc?|toml|ya?ml)$/i.test(out);
  if (isFile)
    throw usageFailure(
      `--out takes a folder, in which wrangler.jsonc is written; ${out} is a file`,
    );
}

/** Writes both files, and gives their names. Nothing is written if one of them exists. */
function write(
  { config, secrets, outboxes }: Conversion,
  { out, name, force }: MigrateOptions,
  shell: Shell,
): readonly string[] {
  const folder = resolve(shell.folder, out);
  const template = readDocument(join(packageRoot, "wrangler.toml"), shell);
  const toPackage = relative(folder, packageRoot).split(sep).join("/");
  const inPackage = (path: string) => (toPackage === "" ? path : `${toPackage}/${path}`);
  const paths = {
    name,
    main: inPackage(workerModule),
    assets: inPackage("public"),
    schema: inPackage(editorSchema),
  };
  const files = [
    { file: "wrangler.jsonc", text: workerFile("migrate", template, config, paths), mode: 0o644 },
    { file: ".dev.vars.migrated", text: secretsText(secrets), mode: 0o600 },
    ...outboxes.map(({ file, dsn }) => ({
      file,
      text: secretsText(outboxSecrets(secrets, dsn)),
      mode: 0o600,
    })),
  ].filter(({ text }) => text !== "");
  const taken = files.find(({ file }) => isThere(join(folder, file)));
  if (taken !== undefined && force !== true)
    throw usageFailure(`${join(out, taken.file)} exists: use --force to replace it, or --out`);
  mkdirSync(folder, { recursive: true });
  writeFiles(
    files.map(({ file, text, mode }) => ({
      path: join(folder, file),
      shown: join(out, file),
      contents: text,
      mode,
      replaces: force === true,
    })),
  );
  return files.map(({ file }) => join(out, file));
}

/** The secrets of a process beside a database: none of them is the Worker's alone, and the database's isn't the Worker's. */
function outboxSecrets(
  { API_KEY: key }: Conversion["secrets"],
  dsn: string | undefined,
): Readonly<Record<string, string>> {
  return {
    ...(key !== undefined && { API_KEY: key }),
    ...(dsn !== undefined && { OUTBOX_DSN: dsn }),
  };
}

/** @throws {Failure} if a file can't hold a secret */
function secretsText(secrets: Readonly<Record<string, string>>): string {
  const text = secretsFile(secrets);
  if (text === undefined)
    throw usageFailure("a secret has all three kinds of quotes, so that no file can hold it");
  return text;
}

/** What needs a person comes last, where a terminal shows it: most of a table only says that all is well. */
function print({ rows, unread, todo, written }: Report, shell: Shell): void {
  const paint = paintOf(shell);
  const kept = rows.filter(({ outcome }) => outcome === "kept").length;
  const parts = [
    `${paint.good("Kept")}: ${kept} option${kept === 1 ? "" : "s"}, which --json lists`,
    part(paint.title("The platform or Dormouse itself does it"), rows, "platform"),
    part(paint.title("Became a secret"), rows, "secret"),
    part(paint.caution("Not there"), rows, "absent"),
    written.map((file) => `Wrote ${file}`).join("\n"),
    todo.length === 0 ? "" : ["To do:", ...todo.map((one) => `  ${one}`)].join("\n"),
    part(paint.bad("To be decided: Dormouse refuses it"), rows, "decide"),
    unread.length === 0
      ? ""
      : [
          paint.bad("Not read, so that something may be missing:"),
          ...unread.map((one) => `  ${one}`),
        ].join("\n"),
  ];
  shell.print(parts.filter((text) => text !== "").join("\n\n"));
}

/** The rows with one outcome under a title; "" if there are none. */
function part(title: string, rows: readonly Row[], outcome: Row["outcome"]): string {
  const group = rows.filter((row) => row.outcome === outcome);
  if (group.length === 0) return "";
  return `${title}\n${table(group.map((row) => [`  ${shown(row.key)}`, about(row)]))}`;
}

function about({ key, becomes, reason }: Row): string {
  if (reason !== "") return reason;
  return becomes === key ? "" : `→ ${becomes}`;
}

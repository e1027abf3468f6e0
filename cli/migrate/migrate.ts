import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { parseEnv } from "node:util";
import { Command } from "commander";
import { readDocument, readText } from "../configuration/document.ts";
import { type Conversion, convert, type Row } from "./conversion.ts";
import { withEnvironment } from "./environment.ts";
import { secretsFile, workerFile } from "./worker-files.ts";
import { packageRoot, workerModule } from "../package-root.ts";
import { shown } from "../text/printable.ts";
import { exitCodes, type Paint, paintOf, type Shell, usageFailure } from "../shell.ts";
import { table } from "../text/table.ts";

interface MigrateOptions {
  readonly environment?: boolean;
  readonly envFile?: string;
  readonly out: string;
  readonly name: string;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** `dormouse migrate`: converts a configuration of Centrifugo into a `wrangler.jsonc` and a file of secrets. */
export function migrateCommand(shell: Shell): Command {
  return new Command("migrate")
    .description("convert a configuration of Centrifugo 4, 5 or 6")
    .argument("[file]", "Centrifugo's configuration: JSON, YAML or TOML")
    .option("--environment", "take CENTRIFUGO_… variables of the environment as well")
    .option("--env-file <file>", "take CENTRIFUGO_… variables of this file as well")
    .option("--out <folder>", "where the files are written", ".")
    .option("--name <name>", "the Worker's name", "dormouse")
    .option("--dry-run", "print the table, and write nothing")
    .option("--force", "replace files that exist")
    .option("--json", "print the table as JSON")
    .addHelpText(
      "after",
      `
Writes wrangler.jsonc, and .dev.vars.migrated with the secrets, which only you may read. The table says of each key what
became of it: kept, a secret, done by the platform, or not there. A key that Dormouse doesn't have, and that kept
clients from something, stays in the file; the server refuses the configuration until you have decided.

Examples:
  dormouse migrate config.json --dry-run
  dormouse migrate centrifugo.yaml --out dormouse
  dormouse migrate --env-file centrifugo.env
  npm run deploy -- --config wrangler.jsonc --secrets-file .dev.vars.migrated`,
    )
    .action((file: string | undefined, options: MigrateOptions) => {
      const conversion = convert(sourceOf(file, options, shell), () =>
        randomBytes(32).toString("hex"),
      );
      const written = options.dryRun === true ? [] : write(conversion, options, shell);
      const { rows, todo } = conversion;
      if (options.json === true) shell.print(JSON.stringify({ rows, todo, written }));
      else print(conversion, written, shell);
      if (rows.some(({ outcome }) => outcome === "decide")) process.exitCode = exitCodes.refused;
    });
}

function sourceOf(
  file: string | undefined,
  { environment, envFile }: MigrateOptions,
  shell: Shell,
): Parameters<typeof convert>[0] {
  if (file === undefined && environment !== true && envFile === undefined)
    throw usageFailure("name Centrifugo's configuration, or use --environment or --env-file");
  const document = file === undefined ? {} : readDocument(file, shell);
  const path = envFile === undefined ? undefined : resolve(shell.folder, envFile);
  if (path !== undefined && !existsSync(path)) throw usageFailure(`${envFile} doesn't exist`);
  return withEnvironment(document, {
    ...(path === undefined ? {} : parseEnv(readText(path, envFile ?? path))),
    ...(environment === true ? shell.environment : {}),
  });
}

/** Writes both files, and gives their names. Nothing is written if one of them exists. */
function write(
  { config, secrets }: Conversion,
  { out, name, force }: MigrateOptions,
  shell: Shell,
): readonly string[] {
  const folder = resolve(shell.folder, out);
  const template = readDocument(join(packageRoot, "wrangler.toml"), shell);
  const toPackage = relative(folder, packageRoot).split(sep).join("/");
  const inPackage = (path: string) => (toPackage === "" ? path : `${toPackage}/${path}`);
  const secretsText = secretsFile(secrets);
  if (secretsText === undefined)
    throw usageFailure("a secret has all three kinds of quotes, so that no file can hold it");
  const paths = { name, main: inPackage(workerModule), assets: inPackage("public") };
  const files = [
    { file: "wrangler.jsonc", text: workerFile(template, config, paths), mode: 0o644 },
    { file: ".dev.vars.migrated", text: secretsText, mode: 0o600 },
  ].filter(({ text }) => text !== "");
  const taken = files.find(({ file }) => existsSync(join(folder, file)));
  if (taken !== undefined && force !== true)
    throw usageFailure(`${join(out, taken.file)} exists: use --force to replace it, or --out`);
  mkdirSync(folder, { recursive: true });
  for (const { file, text, mode } of files) {
    // A file that exists would keep its mode.
    rmSync(join(folder, file), { force: true });
    writeFileSync(join(folder, file), text, { mode, flag: "wx" });
  }
  return files.map(({ file }) => join(out, file));
}

function print({ rows, todo }: Conversion, written: readonly string[], shell: Shell): void {
  const paint = paintOf(shell);
  for (const { outcome, title } of groups(paint)) {
    const group = rows.filter((row) => row.outcome === outcome);
    if (group.length === 0) continue;
    shell.print(title);
    shell.print(table(group.map((row) => [`  ${shown(row.key)}`, about(row)])));
    shell.print("");
  }
  for (const file of written) shell.print(`Wrote ${file}`);
  if (todo.length === 0) return;
  if (written.length > 0) shell.print("");
  shell.print(["To do:", ...todo.map((one) => `  ${one}`)].join("\n"));
}

function groups(
  paint: Paint,
): readonly { readonly outcome: Row["outcome"]; readonly title: string }[] {
  return [
    { outcome: "decide", title: paint.bad("To be decided: Dormouse refuses it") },
    { outcome: "absent", title: paint.caution("Not there") },
    { outcome: "secret", title: paint.title("Became a secret") },
    { outcome: "platform", title: paint.title("The platform or Dormouse itself does it") },
    { outcome: "kept", title: paint.good("Kept") },
  ];
}

function about({ key, becomes, reason }: Row): string {
  if (reason !== "") return reason;
  return becomes === key ? "" : `→ ${becomes}`;
}

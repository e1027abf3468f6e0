import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { basename, join, relative, resolve, sep } from "node:path";
import { Command } from "commander";
import { isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/wire-value.ts";
import { codeFiles, codeMain, codeNamespace, codePackages } from "../configuration/channel-code.ts";
import { firstOf, isThere, readDocument } from "../configuration/document.ts";
import { wranglerFiles } from "../configuration/wrangler.ts";
import { writeFiles } from "../configuration/write-files.ts";
import { addToProject } from "../existing/add-to-project.ts";
import { secretsFile, workerFile } from "../migrate/worker-files.ts";
import { packageName } from "../../src/version.ts";
import { builtWorker, editorSchema, packageRoot } from "../package-root.ts";
import { oldNodeProblem } from "../node-version.ts";
import { paintOf, type Shell, usageFailure } from "../shell.ts";

/** `dormouse init`: lays out a project of its own, whose `npm start` runs the server for development. */
export function initCommand(shell: Shell): Command {
  return new Command("init")
    .description("lay out a project whose npm start runs the server")
    .argument("[folder]", "the new project's folder", ".")
    .option("--name <name>", "the Worker's name (default: the folder's)")
    .option("--code", "with code of its own in the order of its channels: channels.ts")
    .option("--existing", "add the objects to the project that is there, and write no other file")
    .option(
      "--env <environment>",
      "with --existing: the environment of the file that gets the bindings",
    )
    .option("--json", "print the names of the files as JSON")
    .addHelpText(
      "after",
      `
Writes package.json, wrangler.jsonc, .gitignore, and .dev.vars with secrets of its own, which only you may read. With --code
also worker.ts, channels.ts and tsconfig.json.

Examples:
  dormouse init chat
  cd chat && npm install && npm start
  dormouse init votes --code`,
    )
    .action(async (folder: string, { name, env, existing, code, json }: InitOptions) => {
      if (env !== undefined && existing !== true) throw usageFailure("--env needs --existing");
      if (name !== undefined && existing === true)
        throw usageFailure("--name is for a new project: the one that exists has a name");
      if (code === true && existing === true)
        throw usageFailure("--code is for a new project: give the code to dormouse() in yours");
      const isNew = name !== undefined || code === true;
      if (existing === true || (!isNew && (await isMeant(folder, shell)))) {
        const added = addToProject(folder, env, shell);
        if (json === true) shell.print(JSON.stringify(added));
        else shell.print(addedText(added).join("\n"));
        return;
      }
      const old = oldNodeProblem();
      if (old !== undefined && json !== true) shell.note(paintOf(shell).caution(old));
      const written = layOut(folder, { name, hasCode: code === true }, shell);
      if (json === true) shell.print(JSON.stringify({ written }));
      else {
        shell.print(nextSteps(written, folder, code === true).join("\n"));
      }
    });
}

/** The lines about the written files and the commands to type next. */
function nextSteps(
  written: readonly string[],
  folder: string,
  hasCode: boolean,
): readonly string[] {
  return [
    ...written.map((file) => `Wrote ${join(folder, file)}`),
    "",
    "Next:",
    ...(folder === "." ? [] : [`  cd ${folder}`]),
    // A package that is installed is built.
    ...(isInstalled ? [] : [`  npm run build --prefix ${packageRoot}`]),
    "  npm install",
    "  npm start",
    "and in another terminal:",
    ...(hasCode
      ? [
          "  npx dormouse listen votes:lunch",
          `  npx dormouse call votes:lunch vote '{"option":"soup"}'`,
        ]
      : ["  npx dormouse listen news", `  npx dormouse publish news '{"text":"hello"}'`]),
    "The console is at http://localhost:8787/console/; its password is CONSOLE_PASSWORD in .dev.vars.",
  ];
}

interface InitOptions {
  readonly name?: string;
  readonly env?: string;
  readonly existing?: boolean;
  readonly code?: boolean;
  readonly json?: boolean;
}

/** Whether the person at the terminal wants a project that is there to be added to; nobody is asked without one. */
async function isMeant(folder: string, shell: Shell): Promise<boolean> {
  const file = firstOf(wranglerFiles, resolve(shell.folder, folder));
  if (file === undefined || !shell.isTerminal) return false;
  const answer = await shell.ask(`Add Dormouse to the Worker of ${join(folder, file)}? (y/n) `);
  return /^y(?:es)?$/i.test(answer?.trim() ?? "");
}

/** What was done to a project that exists, for people. */
function addedText({ file, additions, left }: ReturnType<typeof addToProject>): readonly string[] {
  const { bindings, classes, environment } = additions;
  const inside = environment === undefined ? file : `${file}, environment ${environment}`;
  const bound = bindings.map(({ name }) => name).join(", ");
  const form = classes.form === "exports" ? "exports" : `the migration ${classes.tag}`;
  const done = [
    ...(bound === "" ? [] : [`Added to ${inside}: the bindings ${bound}`]),
    ...(classes.names.length === 0
      ? []
      : [`Added to ${file}: ${form} with the classes ${classes.names.join(", ")}`]),
  ];
  const text = done.length === 0 ? [`${inside} has all objects: nothing was changed`] : done;
  return left.length === 0 ? text : [...text, "", "Next:", ...left.map((one) => `  ${one}`)];
}

/** Writes the files, and gives their names. Nothing is written if one of them exists. */
function layOut(
  given: string,
  { name: named, hasCode }: { readonly name: string | undefined; readonly hasCode: boolean },
  shell: Shell,
): readonly string[] {
  const folder = resolve(shell.folder, given);
  const name =
    named ??
    basename(folder)
      .toLowerCase()
      .replaceAll(/[^a-z0-9-]+/g, "-");
  if (!/^[a-z0-9][-a-z0-9]{0,62}$/.test(name))
    throw usageFailure("--name takes the name of a Worker: a-z, 0-9 and -, at most 63");
  const template = readDocument(join(packageRoot, "wrangler.toml"), shell);
  const { config = {} } = objectOf(template["vars"]);
  // In the file and not in the script, so that \`npm start -- --port\` names another one.
  const worker = { ...template, dev: { port: 8787 } };
  const installed = `node_modules/${packageName}`;
  const paths = {
    name,
    main: hasCode ? codeMain : `${installed}/${builtWorker}`,
    assets: `${installed}/public`,
    schema: `${installed}/${editorSchema}`,
  };
  const secrets = {
    API_KEY: randomBytes(32).toString("hex"),
    TOKEN_HMAC_SECRET_KEY: randomBytes(32).toString("hex"),
    // With it the console is on under npm start (rule N1).
    CONSOLE_PASSWORD: randomBytes(16).toString("hex"),
  };
  const files = [
    { file: "package.json", text: packageFile({ name, hasCode }, folder, shell), mode: 0o644 },
    {
      file: "wrangler.jsonc",
      text: workerFile("init", worker, hasCode ? coded(objectOf(config)) : objectOf(config), paths),
      mode: 0o644,
    },
    { file: ".gitignore", text: "node_modules/\n.wrangler/\n.dev.vars*\n", mode: 0o644 },
    { file: ".dev.vars", text: secretsFile(secrets) ?? "", mode: 0o600 },
    ...(hasCode ? codeFiles.map(({ file, text }) => ({ file, text, mode: 0o644 })) : []),
  ];
  const taken = files.find(({ file }) => isThere(join(folder, file)));
  if (taken !== undefined)
    throw usageFailure(
      `${join(given, taken.file)} exists: init needs a folder without it, and init --existing adds to a project`,
    );
  mkdirSync(folder, { recursive: true });
  writeFiles(
    files.map(({ file, text, mode }) => ({
      path: join(folder, file),
      shown: join(given, file),
      contents: text,
      mode,
      replaces: false,
    })),
  );
  return files.map(({ file }) => file);
}

/** The configuration with the namespace of the channels that have code. */
function coded(config: JsonObject): JsonObject {
  const channel = objectOf(config["channel"]);
  return { ...config, channel: { ...channel, namespaces: [codeNamespace] } };
}

/** The project's package, with the versions of Dormouse and wrangler that belong together. */
function packageFile(
  { name, hasCode }: { readonly name: string; readonly hasCode: boolean },
  folder: string,
  shell: Shell,
): string {
  const own = readDocument(join(packageRoot, "package.json"), shell);
  const versions = objectOf(own["devDependencies"]);
  const development = [...(hasCode ? codePackages : []), "wrangler"];
  const toPackage = relative(folder, packageRoot).split(sep).join("/");
  const content = {
    name,
    private: true,
    type: "module",
    scripts: {
      start: `wrangler dev ${variables.map((one) => `--var "${one}"`).join(" ")}`,
      // As in the repository, so that a page's command lines work in both.
      dormouse: "dormouse",
      listen: "dormouse listen",
      check: "dormouse check",
      ...(hasCode && { types: "tsc" }),
      deploy: "dormouse deploy",
    },
    dependencies: { [packageName]: isInstalled ? own["version"] : `file:${toPackage}` },
    devDependencies: Object.fromEntries(development.map((one) => [one, versions[one]])),
    engines: { node: ">=22" },
  };
  return `${JSON.stringify(content, null, 2)}\n`;
}

/** Whether the package is one that npm installed, or else a clone of the repository. */
export const isInstalled = packageRoot.split(sep).includes("node_modules");

/** What tells the Worker that it serves this machine alone, as `npm start` of Dormouse's own repository does. */
const variables = [
  "DEVELOPMENT:true",
  "DEVELOPMENT_ORIGINS:http://localhost:*,http://127.0.0.1:*,http://localhost,http://127.0.0.1",
  "STREAM_PROBE_MS:500",
  "CLIENT_ADDRESS_HEADER:",
];

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}

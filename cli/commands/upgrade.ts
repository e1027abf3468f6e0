import { join, resolve } from "node:path";
import { Command } from "commander";
import { packageName, version } from "../../src/version.ts";
import { isThere } from "../configuration/document.ts";
import { projectFile, rewrite } from "../configuration/project-file.ts";
import { wranglerFiles } from "../configuration/wrangler.ts";
import { builtWorker, packageRoot } from "../package-root.ts";
import { isInstalled } from "./init.ts";
import { type Shell, usageFailure } from "../shell.ts";

/** `dormouse upgrade`: brings a project that an earlier `init` has laid out to this version's package. */
export function upgradeCommand(shell: Shell): Command {
  return new Command("upgrade")
    .description("bring a project of an earlier init to the package of this version")
    .argument("[folder]", "the project's folder", ".")
    .addHelpText(
      "after",
      `
Changes the dependency in package.json, and the paths into the package in wrangler's file; nothing else. A second time it
finds nothing to do.

Examples:
  dormouse upgrade
  dormouse upgrade chat`,
    )
    .action((folder: string) => {
      const changed = upgraded(resolve(shell.folder, folder));
      const next = changed.length === 0 ? [] : ["Next: npm install"];
      const said = changed.length === 0 ? ["The project is up to date."] : changed;
      shell.print([...said, ...next].join("\n"));
    });
}

/** Writes the files that have to change, all of them or none, and says what changed in each. */
function upgraded(folder: string): readonly string[] {
  const names = ["package.json", ...wranglerFiles].filter((name) => isThere(join(folder, name)));
  if (!names.includes("package.json"))
    throw usageFailure("there is no package.json: upgrade takes the folder of a project");
  const files = names.map((name) => projectFile(folder, name, name));
  if (!files.some(({ text }) => text.includes(packageName) || text.search(formerDependency) >= 0))
    throw usageFailure(`package.json has no dependency on ${packageName}: init --existing adds it`);
  const changed = files.flatMap((file) => {
    const changes = replacements.filter(({ from }) => file.text.search(from) >= 0);
    if (changes.length === 0) return [];
    const text = changes.reduce((before, { from, to }) => before.replaceAll(from, to), file.text);
    return [{ ...file, text, says: changes.map(({ says }) => `${file.shown}: ${says}`) }];
  });
  rewrite(changed);
  return changed.flatMap(({ says }) => says);
}

const release = version.split(" ")[0] ?? version;
/** What a project that a clone lays out depends on is the clone. */
const dependency = isInstalled ? release : `file:${packageRoot}`;

/** The dependency of projects from before the package had its name: on npm that name is somebody else's. */
const formerDependency = /"dormouse": "[^"]*"(?=[\s,}])/g;

const replacements: readonly {
  readonly from: RegExp;
  readonly to: string;
  readonly says: string;
}[] = [
  {
    from: formerDependency,
    to: `"${packageName}": "${dependency}"`,
    says: `depends on ${packageName} ${release}`,
  },
  {
    from: /node_modules\/dormouse\/workers\/edge\.ts/g,
    to: `node_modules/${packageName}/${builtWorker}`,
    says: "main is the server of the package",
  },
  {
    from: /node_modules\/dormouse\/public/g,
    to: `node_modules/${packageName}/public`,
    says: "the assets are those of the package",
  },
];

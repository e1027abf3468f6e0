import { execFile, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageRoot } from "../../../cli/package-root.ts";

/** The needs of an application: PHP, PHPUnit, and Laravel with the packages that it and the application need. */
const packages = ["php-cli", "php-curl", "php-mbstring", "php-xml", "phpunit"];
const libraries = ["php-guzzlehttp-guzzle", "php-laravel-framework"];
const extensions = [
  "ctype",
  "curl",
  "dom",
  "fileinfo",
  "iconv",
  "intl",
  "mbstring",
  "tokenizer",
  "xml",
  "xmlwriter",
];

/** PHP, Laravel and PHPUnit, from the packages of Debian, in a folder of their own: nothing is installed on the machine. */
export class LaravelEnvironment {
  readonly #folder: string;

  /**
   * Created on first use, which takes a download, and reused from then on.
   *
   * @returns undefined on a machine whose distribution has no such packages
   */
  static async open(): Promise<LaravelEnvironment | undefined> {
    if (spawnSync("apt-get", ["--version"]).status !== 0) return undefined;
    const release = spawnSync("cat", ["/etc/os-release"], { encoding: "utf8" }).stdout;
    const wanted = JSON.stringify([packages, libraries, release]);
    const hash = createHash("sha256").update(wanted).digest("hex").slice(0, 16);
    const folder = join(environments, hash);
    if (!existsSync(folder)) await make(folder);
    return existsSync(join(folder, "usr")) ? new LaravelEnvironment(folder) : undefined;
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Makes a Laravel application in a new folder.
   *
   * @param files a folder with the application's own files
   * @param pages a folder with what it serves as it is
   */
  layOut(application: string, files: string, pages: string): void {
    for (const folder of ["bootstrap/cache", "resources/views", "storage/framework/sessions"])
      mkdirSync(join(application, folder), { recursive: true });
    mkdirSync(join(application, "storage/framework/views"));
    cpSync(join(surroundings, "config"), join(application, "config"), { recursive: true });
    cpSync(files, application, { recursive: true });
    cpSync(pages, join(application, "public"), { recursive: true });
  }

  /** The command line that serves an application, whose folder is in the variable APPLICATION. */
  serve(port: string): readonly string[] {
    return this.#php(["-S", `127.0.0.1:${port}`, join(surroundings, "application.php")]);
  }

  /** The command line that runs a file. */
  run(file: string): readonly string[] {
    return this.#php([file]);
  }

  /** The command line that runs tests with PHPUnit. */
  phpunit(...words: readonly string[]): readonly string[] {
    return this.#php([join(this.#folder, "usr", "bin", "phpunit"), ...words]);
  }

  #php(words: readonly string[]): readonly string[] {
    const programs = join(this.#folder, "usr", "bin");
    const program = readdirSync(programs).find((name) => /^php\d/.test(name)) ?? "php";
    const modules = join(this.#folder, "usr", "lib", "php");
    const api = readdirSync(modules).find((name) => /^\d{8}$/.test(name)) ?? "";
    const settings = [
      `include_path=${join(this.#folder, "usr", "share", "php")}`,
      `extension_dir=${join(modules, api)}`,
      ...extensions.map((name) => `extension=${name}`),
    ];
    const given = settings.flatMap((setting) => ["-d", setting]);
    return [join(programs, program), "-n", ...given, ...words];
  }
}

/**
 * Creates a folder atomically, also if several processes create it at the same time. It stays empty without packages.
 */
async function make(folder: string): Promise<void> {
  mkdirSync(environments, { recursive: true });
  const unfinished = mkdtempSync(join(environments, "unfinished-"));
  const lists = mkdtempSync(join(environments, "lists-"));
  try {
    // Lists of its own, because those of the machine may be missing or old, and none of what the machine has installed.
    mkdirSync(join(lists, "cache", "archives", "partial"), { recursive: true });
    mkdirSync(join(lists, "lists", "partial"), { recursive: true });
    const options = [
      `Dir::State=${lists}`,
      `Dir::Cache=${join(lists, "cache")}`,
      "Dir::State::status=/dev/null",
      "APT::Sandbox::User=",
    ].flatMap((option) => ["-o", option]);
    await run("apt-get", [...options, "--quiet", "update"]);
    const names = await packagesOf(options);
    if (names.length > 0) await run("apt-get", [...options, "download", ...names], { cwd: lists });
    for (const file of readdirSync(lists).filter((name) => name.endsWith(".deb")))
      await run("dpkg-deb", ["--extract", join(lists, file), unfinished]);
    renameSync(unfinished, folder);
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(lists, { recursive: true });
  }
}

/** The packages that belong to PHP, with all those that they need; none if the distribution lacks one. */
async function packagesOf(options: readonly string[]): Promise<readonly string[]> {
  const install = [...options, "install", "--simulate", "--no-install-recommends"];
  const simulated = spawnSync("apt-get", [...install, ...packages, ...libraries], {
    encoding: "utf8",
  });
  if (simulated.status !== 0) return [];
  return Array.from(simulated.stdout.matchAll(/^Inst (php\S*)/gm), ([, name = ""]) => name);
}

/** Rejects with the program's standard error. */
const run = promisify(execFile);
const surroundings = join(packageRoot, "test", "clients", "laravel");
const environments = join(packageRoot, "node_modules", ".cache", "dormouse-laravel");

import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../../cli/package-root.ts";
import { debianFolder } from "./debian-folder.ts";

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
    const folder = await debianFolder([...packages, ...libraries], /^php/);
    return folder === undefined ? undefined : new LaravelEnvironment(folder);
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

const surroundings = join(packageRoot, "test", "clients", "laravel");

import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { isJsonArray, isJsonObject, type JsonObject } from "../../src/protocol/wire-value.ts";

/** A module of a Worker, with its type as the upload names it. */
interface UploadedModule {
  readonly name: string;
  readonly type: string;
  readonly contents: Uint8Array<ArrayBuffer>;
}

/** What `wrangler deploy` would upload: the Worker as it would run. */
export interface Upload {
  /** The name of the module at which the Worker begins; undefined for one in the old form, without modules. */
  readonly main: string | undefined;
  readonly modules: readonly UploadedModule[];
  readonly bindings: readonly JsonObject[];
  readonly compatibility: { readonly date: string; readonly flags: readonly string[] };
}

/** Which Worker is uploaded. */
export interface UploadChoice {
  /** The script of the project's wrangler. */
  readonly wrangler: string;
  /** The project's folder, in which wrangler runs. */
  readonly folder: string;
  /** Wrangler's file. */
  readonly file: string;
  /** The environment in that file; "" for the top level. */
  readonly environment: string;
}

/** The variable of the environment by which a check knows that it runs in the build that another check has started. */
export const nestedVariable = "DORMOUSE_CHECKS";

/**
 * Lets wrangler build what it would upload, and uploads nothing. It runs the project's own build as a deploy does.
 *
 * @returns the upload, or what wrangler says against it
 */
export async function dryUpload(
  choice: UploadChoice,
): Promise<
  | { readonly outcome: "upload"; readonly upload: Upload }
  | { readonly outcome: "bad"; readonly says: string }
> {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-check-"));
  try {
    const file = join(folder, "upload");
    const { status, said } = await dryRun(choice, file);
    if (status !== 0) return { outcome: "bad", says: errorsIn(said) };
    return { outcome: "upload", upload: await parseUpload(readFileSync(file)) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs wrangler, and gives its status and all that it has said. */
async function dryRun(
  { wrangler, folder, file, environment }: UploadChoice,
  outfile: string,
): Promise<{ readonly status: number; readonly said: string }> {
  const running = spawn(
    process.execPath,
    [
      wrangler,
      "deploy",
      "--dry-run",
      `--outfile=${outfile}`,
      `--config=${file}`,
      // A stack then has the code's own names, and no image is built for containers.
      "--minify=false",
      "--containers-rollout=none",
      ...(environment === "" ? [] : ["--env", environment]),
    ],
    {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...process.env,
        CLOUDFLARE_ENV: environment,
        NO_COLOR: "1",
        FORCE_COLOR: "0",
        WRANGLER_SEND_METRICS: "false",
        [nestedVariable]: "1",
      },
    },
  );
  const pieces: Buffer[] = [];
  for (const stream of [running.stdout, running.stderr])
    stream.on("data", (piece: Buffer) => void pieces.push(piece));
  const status = await new Promise<number>((done, failed) => {
    running.once("error", failed);
    running.once("close", (code) => done(code ?? 1));
  });
  return { status, said: stripVTControlCharacters(Buffer.concat(pieces).toString("utf8")) };
}

/** The errors among what wrangler has said, without its banner and its advice; all of it if it marks none. */
function errorsIn(said: string): string {
  const [, ...errors] = said.split(/^.*\[ERROR\] /m);
  const texts = errors.map((error) =>
    error
      .split(/^(?:🪵|.*\[WARNING\])/mu)[0]
      ?.replace(/\n\s*\n/g, "\n")
      .trim(),
  );
  return (texts.length > 0 ? texts.join("\n") : said).trim();
}

/** Parses the file that wrangler writes: the form that it would send. */
async function parseUpload(file: Uint8Array<ArrayBuffer>): Promise<Upload> {
  const boundary = Buffer.from(file.subarray(0, 200)).toString("latin1").split("\r\n")[0] ?? "";
  const type = `multipart/form-data; boundary=${boundary.slice(2)}`;
  const form = await new Response(file, { headers: { "content-type": type } }).formData();
  const described = form.get("metadata");
  const metadata: JsonObject = typeof described === "string" ? JSON.parse(described) : {};
  const modules: UploadedModule[] = [];
  for (const [name, part] of form)
    if (typeof part !== "string")
      modules.push({ name, type: part.type, contents: new Uint8Array(await part.arrayBuffer()) });
  const { main_module: main, bindings = [], compatibility_flags: flags = [] } = metadata;
  const { compatibility_date: date } = metadata;
  return {
    main: typeof main === "string" ? main : undefined,
    modules,
    bindings: isJsonArray(bindings) ? bindings.filter(isJsonObject) : [],
    compatibility: {
      date: typeof date === "string" ? date : "",
      flags: isJsonArray(flags) ? flags.filter((one) => typeof one === "string") : [],
    },
  };
}

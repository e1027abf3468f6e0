import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import { Client, type QueryResultRow } from "pg";
import { Inbox } from "../inbox.ts";
import { freePort } from "../servers/listen.ts";
import { debianFolder } from "./debian-folder.ts";

/** Where Debian's packages put programs, and the libraries that they load. */
interface Programs {
  readonly bin: string;
  readonly libraries: string;
}

/** Debian's PostgreSQL as a process, with a database of its own that ends with it. */
export class Postgres {
  readonly port: number;
  /** The lines of its log. */
  readonly log = new Inbox<string>();
  readonly #programs: Programs;
  readonly #folder: string;
  #process: ChildProcess | undefined;

  /** @returns the programs; undefined on a machine whose distribution has no package of them */
  static async install(): Promise<Programs | undefined> {
    const folder = await debianFolder(["postgresql"], kept);
    if (folder === undefined) return undefined;
    const versions = join(folder, "usr", "lib", "postgresql");
    const bin = join(versions, readdirSync(versions)[0] ?? "", "bin");
    const libraries = readdirSync(join(folder, "usr", "lib"))
      .filter((name) => name.includes("-linux-"))
      .map((name) => join(folder, "usr", "lib", name));
    return { bin, libraries: libraries.join(":") };
  }

  /** @param programs from {@link install} */
  static async start(programs: Programs): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), "dormouse-postgres-"));
    chmodSync(folder, 0o700);
    if (other !== undefined) chownSync(folder, other.uid, other.gid);
    const started = new Postgres(programs, folder, await freePort());
    const password = join(folder, "password");
    writeFileSync(password, "secret");
    const user = ["--username", "postgres", "--pwfile", password, "--auth", "scram-sha-256"];
    const options = ["--pgdata", join(folder, "data"), ...user];
    await promisify(execFile)(join(programs.bin, "initdb"), [...options, "--no-sync"], {
      ...other,
      cwd: folder,
      env: started.#environment,
    });
    await started.run();
    return started;
  }

  private constructor(programs: Programs, folder: string, port: number) {
    this.#programs = programs;
    this.#folder = folder;
    this.port = port;
  }

  get #environment(): NodeJS.ProcessEnv {
    return { ...process.env, LC_ALL: "C", LD_LIBRARY_PATH: this.#programs.libraries };
  }

  /** The address of a database, for a user with the password of all users. */
  dsn(database = "postgres", user = "postgres"): string {
    return `postgresql://${user}:secret@127.0.0.1:${this.port}/${database}`;
  }

  /** Runs the server, also where it was killed, and returns when it takes connections. */
  async run(): Promise<void> {
    // What was killed leaves children, which end by themselves; until then no other may start.
    while (!(await this.#isReady())) await pause(100);
  }

  async #isReady(): Promise<boolean> {
    const settings = { port: this.port, unix_socket_directories: "", jit: "off", fsync: "off" };
    const options = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    const started = spawn(
      join(this.#programs.bin, "postgres"),
      ["-D", join(this.#folder, "data"), ...options],
      { ...other, cwd: this.#folder, env: this.#environment, stdio: ["ignore", "ignore", "pipe"] },
    );
    this.#process = started;
    const ready = new Promise<boolean>((resolve) => {
      createInterface(started.stderr).on("line", (line) => {
        this.log.push(line);
        if (line.includes("ready to accept connections")) resolve(true);
      });
      started.once("exit", () => resolve(false));
    });
    return await ready;
  }

  /** Runs SQL as its superuser, and gives the rows of a single statement. */
  async query<Row extends QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
    database?: string,
  ): Promise<readonly Row[]> {
    const client = new Client(this.dsn(database));
    await client.connect();
    try {
      // Several statements take no parameters.
      const { rows } = await client.query<Row>(sql, values.length === 0 ? undefined : [...values]);
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Ends the server at once. */
  async kill(): Promise<void> {
    if (this.#process === undefined) return;
    const ended = once(this.#process, "exit");
    if (this.#process.kill("SIGKILL")) await ended;
    this.#process = undefined;
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Neither C's library, which is that of the machine, nor what only a machine's installation needs. */
const kept =
  /^(?:postgresql(?:-client)?-\d+|lib(?:bz2|lzma|zstd|lz4|ssl|icu|xml2|xslt|ldap|sasl2|krb5|k5|gssapi|keyutils|com-err|pam0g|audit|cap|systemd|gcrypt|gpg|gnutls|nettle|hogweed|gmp|idn2|unistring|tasn1|p11|ffi|readline|tinfo|uuid|pq|md0).*)$/;

/** The server refuses to run as root. */
const other = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : undefined;

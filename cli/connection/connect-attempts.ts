import type { Shell } from "../shell.ts";
import { printable } from "../text/printable.ts";

/** Tells of a client's attempts to connect: the first failure in a sentence, and the others as a counter. */
export class ConnectAttempts {
  readonly #address: string;
  readonly #shell: Shell;
  #failed = 0;
  #cause: string | undefined;

  /** @param address of the server's WebSockets */
  constructor(address: string, shell: Shell) {
    this.#address = address;
    this.#shell = shell;
  }

  /** Keeps why the socket failed, which the SDK doesn't tell. */
  socketFailed(cause: string): void {
    this.#cause = cause;
  }

  /**
   * Tells that an attempt has failed.
   *
   * @param reason that the SDK gives; the socket's cause is preferred to it
   */
  failed(reason: string): void {
    const cause = this.#cause ?? reason;
    this.#cause = undefined;
    this.#failed++;
    if (this.#failed === 1)
      this.#shell.note(printable(`can't connect to ${this.#address}: ${cause}. ${this.#hint()}`));
    else this.#shell.progress(`still trying: ${this.#failed} attempts have failed`);
  }

  /** The attempts that failed before this one; the next failure is a first one again. */
  connected(): string {
    const failed = this.#failed;
    this.#failed = 0;
    this.#cause = undefined;
    if (failed === 0) return "";
    return ` after ${failed} failed attempt${failed === 1 ? "" : "s"}`;
  }

  #hint(): string {
    return isOnThisMachine(new URL(this.#address).hostname)
      ? "Does npm start run? Another server is named with --port or --url"
      : "Is that the server's address, and does it run?";
  }
}

/** Whether a host is this machine. */
export function isOnThisMachine(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || /^(?:127\.|\[::1\]$)/.test(host);
}

import { limits } from "../../src/limits.ts";
import { elapsed } from "../../src/moment.ts";
import {
  type DescriptorUse,
  hasDescriptors,
  SilentConnections,
} from "../../src/access/server-descriptors.ts";

/** The variables in which a server of one's own gives its file descriptors; Cloudflare has no such limit. */
export interface DescriptorSettings {
  /** A folder with an entry for each open descriptor of the process. */
  readonly DESCRIPTORS?: Fetcher;
  /** How many descriptors the process may have. */
  readonly DESCRIPTORS_MAX?: string;
}

/**
 * Keeps the server from running out of file descriptors (rule B10): workerd would end, and all connections with it. A
 * connection takes two and an awake channel three.
 */
export class Descriptors {
  /** The silent connections of all objects, which share this process. */
  readonly silent: SilentConnections;
  readonly #folder: Fetcher;
  readonly #max: number;
  /** Undefined before the first reading. */
  #used: number | undefined;
  #readAtMs = Number.NEGATIVE_INFINITY;
  #reading = false;
  /** Those that were let in and haven't ended yet: they may not have opened their descriptors. */
  #underWay = 0;
  /** Those that ended after the last reading began: it may not have counted what they opened. */
  #ended = 0;

  constructor(folder: Fetcher, max: number) {
    this.#folder = folder;
    this.#max = max;
    this.silent = new SilentConnections(max);
  }

  /**
   * Whether there are descriptors for one more request or call. If so, call {@link ended} once it is answered; but not for
   * a stranger, whose request was let in before.
   */
  async haveRoom(use: DescriptorUse): Promise<boolean> {
    const more = use === "stranger" ? 0 : 1;
    for (let tries = 0; tries < readTries; tries++) {
      const isOld = elapsed(this.#readAtMs, limits.descriptorsReadMs, Date.now());
      if (!isOld && this.#hasRoom(use, more)) {
        this.#underWay += more;
        return true;
      }
      // A request must not wait for another one's reading, but for a time it may.
      if (this.#reading) await scheduler.wait(readWaitMs);
      else if (isOld || tries === 0) await this.#read();
      else break;
    }
    return false;
  }

  /** A request or a call that was let in has been answered. */
  ended(): void {
    this.#underWay--;
    this.#ended++;
  }

  #hasRoom(use: DescriptorUse, more: number): boolean {
    if (this.#used === undefined) return false;
    const underWay = this.#underWay + this.#ended + more;
    return hasDescriptors(use, { max: this.#max, used: this.#used, underWay });
  }

  async #read(): Promise<void> {
    this.#reading = true;
    try {
      this.#ended = 0;
      const response = await this.#folder.fetch("http://descriptors/");
      this.#used = (await response.text()).split(`"name"`).length - 1;
      this.#readAtMs = Date.now();
    } finally {
      this.#reading = false;
    }
  }
}

const readTries = 20;
const readWaitMs = 10;

/** The descriptors of this process; undefined where nothing limits them. */
export function descriptorsOf(settings: DescriptorSettings): Descriptors | undefined {
  const { DESCRIPTORS: folder, DESCRIPTORS_MAX: max = "" } = settings;
  if (folder === undefined || max === "") return undefined;
  known ??= new Descriptors(folder, Number(max));
  return known;
}

let known: Descriptors | undefined;

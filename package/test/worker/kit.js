import { aheadMs, liveByClock, setAhead } from "./clock.js";
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";

/**
 * What the platform does with the Worker under test and nobody can ask it to do. Its objects live by a clock that can be set
 * ahead, and are counted; an object can be emptied, for the next test.
 */

/** The objects that have started, and how often, by their kind and ID. */
const started = new Map();

/** What the Worker's code tells of its configuration: this module is loaded before it. */
const told = [];
globalThis.dormouseRealtimeConfigured = (tell) => void told.push(tell);

/** The kinds whose classes don't extend `DurableObject`: they have no methods for others, and are asked by requests. */
const withoutMethods = new Set();

/** The header of a request by which such an object is asked. */
const callHeader = "dormouse-test-call";

/** A class of objects that live by the clock of the kit and are counted. */
export function observed(Base, kind) {
  const Seen = seen(Base, kind);
  if (Base.prototype instanceof DurableObject) return Seen;
  withoutMethods.add(kind);
  return class extends Seen {
    async fetch(request) {
      const call = request.headers.get(callHeader);
      return call === null ? super.fetch(request) : Response.json((await this[call]()) ?? null);
    }
  };
}

function seen(Base, kind) {
  return class extends Base {
    #context;

    constructor(context, env) {
      const id = context.id.toString();
      const key = `${kind} ${id}`;
      liveByClock(context, key);
      const known = started.get(key);
      const name = context.id.name ?? known?.name;
      started.set(key, { kind, id, name, starts: (known?.starts ?? 0) + 1 });
      super(context, env);
      this.#context = context;
    }

    /** When the alarm rings, in ms; null if there is none. */
    kitAlarm() {
      return this.#context.storage.getAlarm();
    }

    /** Rings the alarm if it is due; otherwise it is set anew, for the clock as it is now. */
    async kitRing() {
      const { storage } = this.#context;
      const atMs = await storage.getAlarm();
      if (atMs === null) return false;
      if (atMs > Date.now()) {
        await storage.setAlarm(atMs);
        return false;
      }
      await storage.deleteAlarm();
      await this.alarm({ isRetry: false, retryCount: 0 });
      return true;
    }

    /** Forgets everything, and ends with its sockets. */
    async kitWipe() {
      const { storage } = this.#context;
      await storage.deleteAlarm();
      await storage.deleteAll();
      this.#context.abort("emptied for the next test");
    }
  };
}

/** What the test asks of the runtime that the Worker runs in. */
export class DormouseTestControl extends WorkerEntrypoint {
  /** The objects that were ever started in this runtime. */
  objects() {
    return [...started.values()];
  }

  nowMs() {
    return Date.now();
  }

  /** What is wrong with a configuration that is in the Worker's code; nothing if none is. */
  configurationProblems() {
    const { DEVELOPMENT: development, SELF_HOSTED: selfHosted } = this.env;
    const place = { development: development === "true", selfHosted: selfHosted === "true" };
    return told[0]?.(place).problems ?? [];
  }

  /** The events of a configuration that is in the Worker's code; null if none is. */
  embeddedEvents() {
    return globalThis.dormouseTestEvents ?? null;
  }

  /**
   * Sets the clock ahead up to a time, but no further than to the next alarm, and rings what is due then.
   *
   * @returns the time now; rung: how many alarms have rung
   */
  async step(untilMs) {
    const objects = [...started.values()];
    const alarms = await Promise.all(objects.map((object) => this.#call(object, "kitAlarm")));
    const next = Math.min(untilMs, ...alarms.filter((atMs) => atMs !== null));
    setAhead(aheadMs() + Math.max(0, next - Date.now()));
    const rung = await Promise.all(
      objects
        .filter((_, index) => alarms[index] !== null)
        .map((object) => this.#call(object, "kitRing")),
    );
    return { nowMs: Date.now(), aheadMs: aheadMs(), rung: rung.filter(Boolean).length };
  }

  /** Empties all objects. */
  async wipe() {
    await Promise.allSettled([...started.values()].map((object) => this.#call(object, "kitWipe")));
    started.clear();
  }

  /** Takes over what another runtime knew of the objects, which this one has on its disk. */
  know(objects) {
    for (const object of objects) {
      const key = `${object.kind} ${object.id}`;
      const { starts = 0 } = started.get(key) ?? {};
      started.set(key, { ...object, starts });
    }
  }

  /** Calls a method of a service, or of an object, for the test. */
  async call({ binding, object, method, given }) {
    const bound = this.env[binding];
    return (object === undefined ? bound : stubOf(bound, object))[method](...given);
  }

  async #call({ kind, ...object }, method) {
    const stub = stubOf(this.env[kind], object);
    if (!withoutMethods.has(kind)) return stub[method]();
    const headers = { [callHeader]: method };
    const response = await stub.fetch("http://kit.invalid/", { headers });
    return response.json();
  }
}

/** An object by its name, which it knows only if it is called by it, or by its ID if it has none. */
function stubOf(objects, { name, id }) {
  return objects.get(name === undefined ? objects.idFromString(id) : objects.idFromName(name));
}

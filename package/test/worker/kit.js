import { aheadMs, liveByClock, setAhead } from "./clock.js";
import { WorkerEntrypoint } from "cloudflare:workers";
import * as server from "./server.js";

/**
 * The Worker under test, byte by byte, with what the platform does and nobody can ask it to do. Its objects live by a clock
 * that can be set ahead, and are counted; an object can be emptied, for the next test.
 */
export * from "./server.js";
export { default } from "./server.js";

/** How often each object has started, by its kind and name. */
const starts = new Map();

export class ChannelObject extends observed(server.ChannelObject, "CHANNELS") {}
export class GatewayObject extends observed(server.GatewayObject, "GATEWAYS") {}
export class UsersObject extends observed(server.UsersObject, "USERS") {}
export class MetricsObject extends observed(server.MetricsObject, "METRICS") {}

function observed(Base, kind) {
  return class extends Base {
    constructor(context, env) {
      const owner = `${kind} ${context.id.name ?? ""}`;
      liveByClock(context, owner);
      starts.set(owner, (starts.get(owner) ?? 0) + 1);
      super(context, env);
    }

    /** When the alarm rings, in ms; null if there is none. */
    kitAlarm() {
      return this.ctx.storage.getAlarm();
    }

    /** Rings the alarm if it is due; otherwise it is set anew, for the clock as it is now. */
    async kitRing() {
      const atMs = await this.ctx.storage.getAlarm();
      if (atMs === null) return false;
      if (atMs > Date.now()) {
        await this.ctx.storage.setAlarm(atMs);
        return false;
      }
      await this.ctx.storage.deleteAlarm();
      await this.alarm({ isRetry: false, retryCount: 0 });
      return true;
    }

    /** Forgets everything, and ends with its sockets. */
    async kitWipe() {
      await this.ctx.storage.deleteAlarm();
      await this.ctx.storage.deleteAll();
      this.ctx.abort("emptied for the next test");
    }
  };
}

/** What the test asks of the runtime that the Worker runs in. */
export class DormouseTestControl extends WorkerEntrypoint {
  /** The objects that were ever started in this runtime. */
  objects() {
    return [...starts].map(([owner, count]) => {
      const { kind, name } = ownerParts(owner);
      return { kind, name, starts: count };
    });
  }

  nowMs() {
    return Date.now();
  }

  /**
   * Sets the clock ahead up to a time, but no further than to the next alarm, and rings what is due then.
   *
   * @returns the time now; rung: how many alarms have rung
   */
  async step(untilMs) {
    const owners = [...starts.keys()];
    const alarms = await Promise.all(owners.map((owner) => this.#stub(owner).kitAlarm()));
    const next = Math.min(untilMs, ...alarms.filter((atMs) => atMs !== null));
    setAhead(aheadMs() + Math.max(0, next - Date.now()));
    const rung = await Promise.all(
      owners
        .filter((_, index) => alarms[index] !== null)
        .map((owner) => this.#stub(owner).kitRing()),
    );
    return { nowMs: Date.now(), aheadMs: aheadMs(), rung: rung.filter(Boolean).length };
  }

  /** Empties all objects. */
  async wipe() {
    await Promise.allSettled([...starts.keys()].map((owner) => this.#stub(owner).kitWipe()));
    starts.clear();
  }

  /** Takes over what another runtime knew of the objects, which this one has on its disk. */
  know(owners) {
    for (const { kind, name } of owners)
      starts.set(`${kind} ${name}`, starts.get(`${kind} ${name}`) ?? 0);
  }

  #stub(owner) {
    const { kind, name } = ownerParts(owner);
    const objects = this.env[kind];
    return objects.get(objects.idFromName(name));
  }
}

function ownerParts(owner) {
  const space = owner.indexOf(" ");
  return { kind: owner.slice(0, space), name: owner.slice(space + 1) };
}

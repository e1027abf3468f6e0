import worker, {
  ChannelObject as Channel,
  GatewayObject as Gateway,
  UsersObject as Users,
} from "./edge.js";

/**
 * What is proved is the bundle, byte by byte. Around it there are only ways to break it from outside that the platform has and
 * the runtime doesn't offer: an object ends in the middle of its work, as when a machine is lost, and calls between objects
 * are late, get lost or arrive twice, as between data centres. When a run is over, the clock of the objects can be set ahead,
 * and their alarms ring.
 */

/** How far the clock is ahead. */
let aheadMs = 0;
const now = Date.now;
Date.now = () => now() + aheadMs;

export class ChannelObject extends breakable(Channel, [
  "ask",
  "carryOut",
  "receiptsTold",
  "listReceipts",
]) {}
export class GatewayObject extends breakable(Gateway, [
  "deliver",
  "carryOut",
  "arrivedOnGateway",
]) {}
export class UsersObject extends breakable(Users, ["register", "order"]) {}

// Objects ask backends through it.
export { BackendEntrypoint } from "./edge.js";

export default worker;

/** A class of objects that end when they are asked to, and whose calls of these names may come to something else. */
function breakable(Base, calls) {
  // Features add their calls to the class of the first object, unless it has them. So the objects are made as of this class.
  class Whole extends Base {}
  function Made(...given) {
    return Object.setPrototypeOf(Reflect.construct(Base, given, Whole), new.target.prototype);
  }
  Object.setPrototypeOf(Made, Whole);
  Made.prototype = Whole.prototype;
  return class extends Made {
    #trouble = new Trouble();

    static {
      for (const call of calls)
        this.prototype[call] = function (...given) {
          return this.#trouble.carry(() => Whole.prototype[call].apply(this, given));
        };
    }

    crash() {
      this.ctx.abort("crash wanted");
    }

    /** Sets the clock ahead for all objects, and rings the alarm of this one if it is due then. */
    async ring(afterMs) {
      aheadMs = Math.max(aheadMs, afterMs);
      const dueMs = await this.ctx.storage.getAlarm();
      if (dueMs === null || dueMs > Date.now()) return;
      await this.ctx.storage.deleteAlarm();
      await this.alarm();
    }

    makeTrouble(kind, forMs) {
      this.#trouble.begin(kind, forMs);
    }

    troubledCalls() {
      return this.#trouble.count;
    }
  };
}

/** What becomes of the calls to an object, until the time is over or the object ends. */
class Trouble {
  /** Calls that came to something else. */
  count = 0;
  #calls = "";
  #untilMs = 0;
  #isFirst = false;

  begin(calls, forMs) {
    this.#calls = calls;
    this.#isFirst = true;
    this.#untilMs = Date.now() + forMs;
  }

  async carry(call) {
    if (Date.now() >= this.#untilMs) return call();
    this.count++;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    switch (this.#calls) {
      case "late": {
        await pause(latestMs * Math.random());
        const answer = await call();
        await pause(latestMs * Math.random());
        return answer;
      }
      case "lost":
        if (Math.random() < lostShare) throw new Error("call lost");
        return call();
      case "next lost":
        if (isFirst) throw new Error("call lost");
        return call();
      case "unanswered": {
        const answer = await call();
        if (Math.random() < lostShare) throw new Error("answer lost");
        return answer;
      }
      case "doubled":
        await call();
        return call();
      default:
        throw new Error(`${this.#calls} is no trouble`);
    }
  }
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** An answer is waited for ten seconds. */
const latestMs = 300;
const lostShare = 0.5;

import worker, {
  ChannelObject as Channel,
  GatewayObject as Gateway,
  UsersObject as Users,
} from "./edge.js";

/**
 * What is proved is the bundle, byte by byte. Around it there are only ways to break it from outside that the platform has and
 * the runtime doesn't offer: an object ends in the middle of its work, as when a machine is lost, and calls between objects
 * are late, get lost or arrive twice, as between data centres.
 */

export class ChannelObject extends Channel {
  #trouble = new Trouble();

  crash() {
    this.ctx.abort("crash wanted");
  }

  makeTrouble(calls, forMs) {
    this.#trouble.begin(calls, forMs);
  }

  troubledCalls() {
    return this.#trouble.count;
  }

  ask(...question) {
    return this.#trouble.carry(() => super.ask(...question));
  }

  carryOut(...orders) {
    return this.#trouble.carry(() => super.carryOut(...orders));
  }
}

export class GatewayObject extends Gateway {
  #trouble = new Trouble();

  crash() {
    this.ctx.abort("crash wanted");
  }

  makeTrouble(calls, forMs) {
    this.#trouble.begin(calls, forMs);
  }

  troubledCalls() {
    return this.#trouble.count;
  }

  deliver(...batch) {
    return this.#trouble.carry(() => super.deliver(...batch));
  }

  carryOut(...orders) {
    return this.#trouble.carry(() => super.carryOut(...orders));
  }
}

export class UsersObject extends Users {
  #trouble = new Trouble();

  crash() {
    this.ctx.abort("crash wanted");
  }

  makeTrouble(calls, forMs) {
    this.#trouble.begin(calls, forMs);
  }

  troubledCalls() {
    return this.#trouble.count;
  }

  register(...registration) {
    return this.#trouble.carry(() => super.register(...registration));
  }

  order(...orders) {
    return this.#trouble.carry(() => super.order(...orders));
  }
}

export default worker;

/** What becomes of the calls to an object, until the time is over or the object ends. */
class Trouble {
  /** Calls that came to something else. */
  count = 0;
  #calls = "";
  #untilMs = 0;

  begin(calls, forMs) {
    this.#calls = calls;
    this.#untilMs = Date.now() + forMs;
  }

  async carry(call) {
    if (Date.now() >= this.#untilMs) return call();
    this.count++;
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

/**
 * A Worker beside the one under test. It stands for what that one binds and the test gives, or nobody gives. An object that
 * called the test's process itself would hold a connection to it, and couldn't be evicted.
 */
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";

/** A service whose functions the test gives; the binding is in the properties. */
export class Given extends WorkerEntrypoint {
  constructor(context, env) {
    super(context, env);
    const { binding } = context.props;
    return answering(this, (method, given) => call(env, binding, method, given));
  }

  async fetch(request) {
    const response = await this.env[`FETCH_${this.ctx.props.binding}`].fetch(request);
    const threw = response.headers.get("dormouse-test-threw");
    if (threw !== null) throw new Error(decodeURIComponent(threw));
    return response;
  }
}

async function call(env, binding, method, given) {
  const body = JSON.stringify({ binding, method, given });
  const response = await env.CALL.fetch("http://test.invalid/", { method: "POST", body });
  const { result, threw } = await response.json();
  if (threw !== undefined) throw Object.assign(new Error(threw.message), { name: threw.name });
  return result;
}

/** A service that isn't there; what is said to those who use it is in the properties. */
export class Missing extends WorkerEntrypoint {
  constructor(context, env) {
    super(context, env);
    return answering(this, () => refuse(context.props.says));
  }

  fetch() {
    refuse(this.ctx.props.says);
  }
}

/** The class of objects that aren't there. */
export function missingObject(says) {
  return class extends DurableObject {
    constructor(context, env) {
      super(context, env);
      return answering(this, () => refuse(says));
    }

    fetch() {
      refuse(says);
    }
  };
}

function refuse(says) {
  throw new Error(says);
}

/** Whatever method an object is asked for, it has it. */
function answering(target, answer) {
  return new Proxy(target, {
    get(from, key) {
      const own = Reflect.get(from, key);
      if (own !== undefined || typeof key !== "string" || notMethods.has(key)) return own;
      return (...given) => answer(key, given);
    },
  });
}

/** What the runtime looks for and nobody calls. */
const notMethods = new Set([
  "then",
  "alarm",
  "webSocketMessage",
  "webSocketClose",
  "webSocketError",
]);

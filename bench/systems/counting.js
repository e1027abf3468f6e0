import worker, {
  ChannelObject as Channel,
  GatewayObject as Gateway,
  UsersObject as Users,
} from "./edge.js";

/**
 * What is counted is the bundle, byte by byte. Around it everything is counted that it does with the platform: what it asks of
 * storage and of sockets here by the runtime's own classes, which all objects of the process share, and what the Worker and
 * the objects call by the bindings they are given. `GET /bench/counts` answers what was counted since it was last asked.
 */

const none = {
  rowsWritten: 0,
  rowsRead: 0,
  callsBetweenObjects: 0,
  requestsToObjects: 0,
  framesReceived: 0,
  framesSent: 0,
  bytesSent: 0,
  alarmsSet: 0,
  alarmsRung: 0,
};
let counts = { ...none };

export class ChannelObject extends counted(Channel) {}
export class GatewayObject extends counted(Gateway) {}
export class UsersObject extends counted(Users) {}

export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname !== "/bench/counts") {
      return worker.fetch(request, bindingsOf(env, "requestsToObjects"), context);
    }
    const answered = counts;
    counts = { ...none };
    return Response.json(answered);
  },
};

/** An object's class, whose events and calls are counted. */
function counted(ObjectClass) {
  return class extends ObjectClass {
    constructor(context, env) {
      watch(context);
      super(context, bindingsOf(env, "callsBetweenObjects"));
    }

    webSocketMessage(...event) {
      counts.framesReceived++;
      return super.webSocketMessage(...event);
    }

    alarm(...event) {
      counts.alarmsRung++;
      return super.alarm(...event);
    }
  };
}

/** Lets the classes of storage and sockets count; the first object does it for all. */
function watch({ storage }) {
  if (isWatching) return;
  isWatching = true;
  beforeEach(WebSocket.prototype, "send", (frame) => {
    counts.framesSent++;
    counts.bytesSent += typeof frame === "string" ? encoder.encode(frame).length : frame.byteLength;
  });
  beforeEach(Object.getPrototypeOf(storage), "setAlarm", () => {
    counts.alarmsSet++;
  });
  const sqlClass = Object.getPrototypeOf(storage.sql);
  const exec = sqlClass.exec;
  sqlClass.exec = function (...statement) {
    const cursor = exec.apply(this, statement);
    watchCursors(Object.getPrototypeOf(cursor));
    countRows(cursor);
    return cursor;
  };
}

function beforeEach(owner, name, count) {
  const method = owner[name];
  owner[name] = function (...given) {
    count(...given);
    return method.apply(this, given);
  };
}

/** A statement has written and read more once its rows are taken, in whichever way. */
function watchCursors(cursorClass) {
  if (watchedCursors.has(cursorClass)) return;
  watchedCursors.add(cursorClass);
  for (const name of ["toArray", "one", "next"]) {
    const take = cursorClass[name];
    cursorClass[name] = function () {
      const taken = take.call(this);
      countRows(this);
      return taken;
    };
  }
}

/** Adds what a cursor has come to since it was last looked at. */
function countRows(cursor) {
  const { rowsWritten, rowsRead } = cursor;
  const before = rowsCounted.get(cursor) ?? { rowsWritten: 0, rowsRead: 0 };
  counts.rowsWritten += rowsWritten - before.rowsWritten;
  counts.rowsRead += rowsRead - before.rowsRead;
  rowsCounted.set(cursor, { rowsWritten, rowsRead });
}

/** The same bindings, whose objects count calls. They are made once: what Dormouse knows of an environment hangs on it. */
function bindingsOf(env, name) {
  const known = bindings[name].get(env);
  if (known !== undefined) return known;
  const watched = {
    ...env,
    CHANNELS: countedObjects(env.CHANNELS, name),
    GATEWAYS: countedObjects(env.GATEWAYS, name),
    USERS: countedObjects(env.USERS, name),
  };
  bindings[name].set(env, watched);
  return watched;
}

function countedObjects(objects, name) {
  return {
    getByName(...which) {
      const object = objects.getByName(...which);
      return new Proxy(object, {
        get:
          (_, method) =>
          (...given) => {
            counts[name]++;
            return object[method](...given);
          },
      });
    },
  };
}

let isWatching = false;
const watchedCursors = new WeakSet();
const rowsCounted = new WeakMap();
const bindings = { callsBetweenObjects: new WeakMap(), requestsToObjects: new WeakMap() };
const encoder = new TextEncoder();

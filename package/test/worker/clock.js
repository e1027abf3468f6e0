/**
 * The clock of the Worker under test and of its objects. It can be set ahead, as if that time had passed: what asks for the
 * time is told the later one, and alarms are set for correspondingly earlier times of the runtime's own clock. Timers aren't
 * moved: `setTimeout` waits in real time.
 */
const realNow = Date.now.bind(Date);

/** How far the clock was ahead since when, by the runtime's own clock; the last one counts now. */
const moves = [
  { sinceMs: Number.NEGATIVE_INFINITY, aheadMs: Number(globalThis.aheadAtStartMs ?? 0) },
];

/** How far ahead the clock was when an object's alarm was set, by its kind and name; absent: since the start. */
const alarmsAhead = new Map();

/** The kind and name of the object that a storage belongs to. */
const ownerOf = new WeakMap();

const RealDate = Date;
RealDate.now = () => realNow() + aheadMs();
globalThis.Date = new Proxy(RealDate, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [target.now()] : given, newTarget),
  apply: (target) => new target(target.now()).toString(),
});

/** How far the clock is ahead of the runtime's. */
export function aheadMs() {
  return moves.at(-1).aheadMs;
}

/** Sets the clock to a later time; an earlier one changes nothing. */
export function setAhead(wantedMs) {
  if (wantedMs > aheadMs()) moves.push({ sinceMs: realNow(), aheadMs: wantedMs });
}

/** Lets an object live by the clock. Call it in the constructor, before anything reads the time. */
export function liveByClock(context, owner) {
  ownerOf.set(context.storage, owner);
  patch(
    Object.getPrototypeOf(context.storage),
    "setAlarm",
    (real) =>
      function (at, ...more) {
        noteAlarm(ownerOf.get(this), aheadMs());
        return real.call(this, Number(at) - aheadMs(), ...more);
      },
  );
  patch(
    Object.getPrototypeOf(context.storage),
    "getAlarm",
    (real) =>
      async function (...given) {
        const atMs = await real.apply(this, given);
        return atMs === null ? null : atMs + alarmAhead(ownerOf.get(this));
      },
  );
  // The runtime tells by its own clock when it answered a client's ping.
  patch(
    Object.getPrototypeOf(context),
    "getWebSocketAutoResponseTimestamp",
    (real) =>
      function (socket) {
        const at = real.call(this, socket);
        if (at === null) return null;
        const { aheadMs: ahead } = moves.findLast(({ sinceMs }) => sinceMs <= at.getTime());
        return new RealDate(at.getTime() + ahead);
      },
  );
}

function noteAlarm(owner, ahead) {
  alarmsAhead.set(owner, ahead);
}

function alarmAhead(owner) {
  return alarmsAhead.get(owner) ?? moves[0].aheadMs;
}

/** Replaces a method of the runtime, once. */
function patch(prototype, name, by) {
  const real = prototype[name];
  if (real.isOfClock) return;
  const replaced = by(real);
  replaced.isOfClock = true;
  Object.defineProperty(prototype, name, { value: replaced, configurable: true, writable: true });
}

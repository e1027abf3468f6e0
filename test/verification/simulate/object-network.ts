import type { CallAnswer, CallName, CallRequest } from "../../../src/object/object-call.ts";
import { channelCalls, gatewayCalls, homeCalls } from "../../../src/features/index.ts";
import { parseNodeName } from "../../../src/contract/object-names.ts";
import type { CallKind } from "./network.ts";
import type { SimulatedChannel } from "./simulated-channel.ts";
import type { SimulatedGateway } from "./simulated-gateway.ts";
import type { Done, WorldContext } from "./world-context.ts";

/** A call between objects, for the network. */
interface NetworkCall<Name extends CallName> {
  readonly kind: CallKind;
  /** The called object's name in the network. */
  readonly target: string;
  readonly carryOut: (
    request: CallRequest<Name>,
    answer: Done<{ readonly answer: CallAnswer<Name> }>,
  ) => void;
}

/** What a call is for the network, and how its target carries it out. */
export function callOf<Name extends CallName>(
  context: WorldContext,
  name: Name,
  to: string,
  request: CallRequest<Name>,
): NetworkCall<Name> {
  const { kind, target, carryOut } = targets[name](context, to, request);
  return {
    kind,
    target,
    carryOut: (asked, answer) =>
      carryOut(asked, (answered) =>
        answer(answered === undefined ? undefined : { answer: answered }),
      ),
  };
}

interface TargetOf<Name extends CallName> {
  readonly kind: CallKind;
  readonly target: string;
  readonly carryOut: (request: CallRequest<Name>, answer: Done<CallAnswer<Name>>) => void;
}

type Targets = {
  readonly [Name in CallName]: (
    context: WorldContext,
    to: string,
    request: CallRequest<Name>,
  ) => TargetOf<Name>;
};

const targets: Targets = {
  deliver: (context, to) =>
    on("deliver", context.gateway(to), (gateway, request, answer) =>
      gateway.call((host, done) => host.deliver(...request, done), answer),
    ),
  polled: (context, to) =>
    on("polled", context.gateway(to), (gateway, request, answer) =>
      gateway.call((host, done) => gatewayCalls.polled.answer(host, request, done), answer),
    ),
  arrivedOnGateway: (context, to) =>
    on("gather", context.gateway(to), (gateway, request, answer) =>
      gateway.call(
        (host, done) => gatewayCalls.arrivedOnGateway.answer(host, request, done),
        answer,
      ),
    ),
  presentOnGateway: (context, to) =>
    on("gather", context.gateway(to), (gateway, request, answer) =>
      gateway.call((host, done) => done(host.present(...request)), answer),
    ),
  info: (context, to) =>
    on("list", context.gateway(to), (gateway, _, answer) =>
      gateway.call((host, done) => done(host.info()), answer),
    ),
  channels: (context, to) =>
    on("list", context.gateway(to), (gateway, request, answer) =>
      gateway.call((host, done) => host.channels(...request, done), answer),
    ),
  ask: (context, to) =>
    on("ask", context.channel(to), (channel, [gateway, requests, carries], answer) =>
      channel.call((host, done) => host.ask(gateway, requests, carries, done), answer),
    ),
  present: (context, to, [asking]) =>
    on(
      asking === undefined ? "presence" : "count",
      context.channel(to),
      (channel, [kind], answer) => channel.call((host, done) => host.present(kind, done), answer),
    ),
  presenceTold: (context, to) =>
    on("tell", context.channel(to), (channel, [told], answer) =>
      channel.presenceTold(told, answer),
    ),
  receiptsTold: (context, to) =>
    on("tell", context.channel(to), (channel, request, answer) =>
      channel.call((host, done) => channelCalls.receiptsTold.answer(host, request, done), answer),
    ),
  listReceipts: (context, to) =>
    on("count", context.channel(to), (channel, request, answer) =>
      channel.call((host, done) => channelCalls.listReceipts.answer(host, request, done), answer),
    ),
  ownSubscribers: (context, to) =>
    on("list", context.channel(to), (channel, _, answer) =>
      channel.call((host, done) => done(host.ownSubscribers()), answer),
    ),
  carryOut: (context, to) =>
    on("carry out", holder(context, to), (object, [user, orders], answer) =>
      object.carryOut(user, orders, answer),
    ),
  clientsOf: (context, to) =>
    on("ask holder", holder(context, to), (object, request, answer) =>
      object.callHolder((host, done) => done(host.clientsOf(...request)), answer),
    ),
  connections: (context, to) =>
    on("ask holder", holder(context, to), (object, request, answer) =>
      object.callHolder((host, done) => done(host.connections(...request)), answer),
    ),
  online: (context, to) =>
    on("ask holder", holder(context, to), (object, request, answer) =>
      object.callHolder((host, done) => done(host.online(...request)), answer),
    ),
  heldOf: (context, to) =>
    on("ask holder", holder(context, to), (object, request, answer) =>
      object.callHolder((host, done) => done(host.heldOf(...request)), answer),
    ),
  register: (context, to) =>
    on("register", context.home(to), (home, request, answer) =>
      home.call((host, done) => done(host.register(...request)), answer),
    ),
  admit: (context, to) =>
    on("register", context.home(to), (home, request, answer) =>
      home.call((host, done) => host.admit(request, done), answer),
    ),
  ended: (context, to) =>
    on("list", context.home(to), (home, [users, left], answer) =>
      home.call<undefined>((host, done) => host.ended(users, left, () => done(undefined)), answer),
    ),
  keepUsers: (context, to) =>
    on("register", context.home(to), (home, request, answer) =>
      home.call((host, done) => homeCalls.keepUsers.answer(host, request, done), answer),
    ),
  forgetUser: (context, to) =>
    on("register", context.home(to), (home, request, answer) =>
      home.call((host, done) => homeCalls.forgetUser.answer(host, request, done), answer),
    ),
  keepAuthors: (context, to) =>
    on("register", context.home(to), (home, request, answer) =>
      home.call((host, done) => homeCalls.keepAuthors.answer(host, request, done), answer),
    ),
  forgetAuthor: (context, to) =>
    on("register", context.home(to), (home, request, answer) =>
      home.call((host, done) => homeCalls.forgetAuthor.answer(host, request, done), answer),
    ),
  execute: (context, to) =>
    on("carry out", context.channel(to), (channel, [commands], answer) =>
      channel.call((host, done) => host.execute(commands, undefined, done), answer),
    ),
  forgetUserHere: (context, to) =>
    on("carry out", context.channel(to), (channel, request, answer) =>
      channel.call((host, done) => channelCalls.forgetUserHere.answer(host, request, done), answer),
    ),
  list: (context, to) =>
    on("list", context.home(to), (home, [node], answer) =>
      home.call<undefined>((host, done) => {
        host.list(node);
        done(undefined);
      }, answer),
    ),
  report: () => {
    throw new Error("nothing is counted in a world");
  },
};

function on<Name extends CallName, Target extends { readonly name: string }>(
  kind: CallKind,
  target: Target,
  carryOut: (target: Target, request: CallRequest<Name>, answer: Done<CallAnswer<Name>>) => void,
): TargetOf<Name> {
  return {
    kind,
    target: target.name,
    carryOut: (request, answer) => carryOut(target, request, answer),
  };
}

/** An object that holds clients' sockets, by its node. */
function holder(context: WorldContext, node: string): SimulatedChannel | SimulatedGateway {
  const parsed = parseNodeName(node);
  if (parsed === undefined) throw new Error(`${node} is no object's name`);
  const { kind, name } = parsed;
  return kind === "channel" ? context.channel(name) : context.gateway(name);
}

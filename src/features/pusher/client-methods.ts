import { parsePayloadObject } from "../../protocol/payload.ts";
import { parseJsonObject, trustedJsonText } from "../../protocol/json/text.ts";
import type { Config } from "../../config/config.ts";
import { disconnectCodes, errorCodes } from "../../protocol/codes.ts";
import type { Verifier } from "../../object/platform.ts";
import { disconnectWith, refuseWith, silent } from "../../session/decision.ts";
import type { ClientMethod, ClientMethods, RunningCommand } from "../../session/ports.ts";
import type { RpcRequest } from "../../protocol/command.ts";
import type { CatchUp } from "./catch-up.ts";
import { sinceEvent } from "./codec.ts";
import { appOfKind } from "./config.ts";
import { anonymous } from "./dialect.ts";
import { namedUser } from "./presence-member.ts";
import { parseAuth, signinText } from "./signed-text.ts";
import { socketIdOf } from "./socket-id.ts";
import type { Watchlists } from "./watchlists.ts";

/** The methods of clients for which the server's own protocol has no command: a ping in any bytes, the sign-in, and catching up. */
export function pusherMethods(
  config: Config,
  verifier: Pick<Verifier, "signed">,
  { catchUp, watchlists }: MethodParts,
): ClientMethods {
  const plain = { readsOf: () => 0, bySend: false };
  const ping: ClientMethod = {
    ...plain,
    carryOut: ({ id, done }) => done({ outcome: "reply", reply: { id, method: "rpc" } }),
  };
  const signin: ClientMethod = {
    ...plain,
    carryOut: (command) => signIn(command, config, verifier, watchlists),
  };
  const since: ClientMethod = {
    ...plain,
    readsOf: () => 1,
    carryOut: (command) => catchUp.carryOut(command),
  };
  return new Map([
    [sinceEvent, since],
    ["pusher:ping", ping],
    ["pusher:signin", signin],
  ]);
}

/** The parts of a gateway that carry methods out. */
interface MethodParts {
  readonly catchUp: CatchUp;
  readonly watchlists: Watchlists;
}

/** Signs a user in (rule PU7): from then on the connection is the user's, also for the user's home. */
function signIn(
  { session, id, request, nowMs, done }: RunningCommand<RpcRequest>,
  config: Config,
  verifier: Pick<Verifier, "signed">,
  watchlists: Watchlists,
): void {
  const { auth, user_data: data } = parsePayloadObject(request.data) ?? {};
  const app = appOfKind(config, session.identity.dialect);
  const signed = parseAuth(auth);
  const text = typeof data === "string" ? data : "";
  const code = { ...disconnectCodes.permissionDenied, code: 4009 };
  const refuse = (reason: string): void => done(disconnectWith(code, "PU7", reason));
  if (app === undefined || signed?.key !== app.key) {
    refuse("the auth is not the application's key and a signature");
    return;
  }
  if (session.user !== "") {
    done(refuseWith(errorCodes.badRequest, "PU7", "a user has signed in already"));
    return;
  }
  const right = signinText(socketIdOf(session.identity.client), text);
  verifier.signed(app.secret, right, signed.signature, (isSigned) => {
    if (session.closed) return;
    const user = isSigned ? userOf(text) : undefined;
    if (user === undefined) {
      refuse(isSigned ? "the user_data has no id" : `the signature doesn't match ${app.secret}`);
      return;
    }
    const { claims = anonymous } = session.identity;
    const { expireAtSeconds } = anonymous;
    session.change({ claims: { ...claims, ...user, expireAtSeconds } });
    for (const subscription of session.subscriptions.all) subscription.updateInfo(session.identity);
    session.accepted(nowMs);
    if (session.closed) {
      done(silent);
      return;
    }
    const told = trustedJsonText(`{"user_data":${JSON.stringify(text)}}`);
    done({ outcome: "reply", reply: { id, method: "rpc", data: told } });
    watchlists.begin(session, parseJsonObject(text)?.fields["watchlist"], nowMs);
  });
}

/** The claims of the user whose data an application's server has signed; undefined if it has no ID. */
function userOf(text: string) {
  const named = namedUser(text, "id");
  if (named === undefined) return undefined;
  const { id: user, info } = named;
  return { user, ...(info === undefined ? {} : { info }) };
}

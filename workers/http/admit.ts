import type { Context } from "hono";
import type { ConnectionClaims } from "../../src/access/claims.ts";
import { originAllowed } from "../../src/access/origin.ts";
import type { Served } from "./middleware.ts";
import { busyRetrySeconds, respondBusy, respondText } from "./respond.ts";
import { checkUpgradeToken } from "./upgrade-token.ts";

/** Whether a client may have a connection. */
export type Admission =
  /** As whom, if it brought a token with the request itself. */
  | { readonly outcome: "admitted"; readonly claims?: ConnectionClaims }
  | { readonly outcome: "refused"; readonly response: Response };

/** Refuses a foreign origin and a bad token, before any object is touched (rules A3 and A6). */
export async function admit(context: Context<Served>): Promise<Admission> {
  const { client } = context.var.configured.config;
  if (!originAllowed(context.req.raw.headers.get("Origin"), client.allowedOrigins)) {
    return refused(respondText(403, "Forbidden"));
  }
  const token = await checkUpgradeToken(context);
  switch (token.outcome) {
    case "refused":
      return refused(respondText(401, token.problem));
    case "unavailable":
      return refused(respondBusy(busyRetrySeconds()));
    case "absent":
      return { outcome: "admitted" };
    case "verified":
      return { outcome: "admitted", claims: token.claims };
  }
}

function refused(response: Response): Admission {
  return { outcome: "refused", response };
}

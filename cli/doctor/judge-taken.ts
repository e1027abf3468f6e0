import type { Refused } from "./client.ts";
import { type Finding, skipped, wrong } from "./findings.ts";

/** How the clients of a run are known to the server. */
export type Credentials =
  /** Each client has a token of its own, signed with the secret, which opens the run's channels. */
  | { readonly kind: "secret"; readonly secret: string; readonly userIdClaim: string }
  /** All clients have the same token. */
  | { readonly kind: "token"; readonly token: string; readonly user: string }
  | { readonly kind: "anonymous" };

/** Why no client can be measured. */
export function judgeNotTaken(kind: Credentials["kind"], refused: Refused): Finding {
  const name = "clients";
  const text = refusedText(refused);
  if (
    refused.outcome === "failed" ||
    (refused.outcome === "status" && !answers.has(refused.status))
  )
    return wrong(
      name,
      `no WebSocket comes through: ${text}`,
      'in nginx proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection "upgrade";',
    );
  if (refused.outcome === "status" && refused.status === 503)
    return wrong(
      name,
      `the server takes no client: ${text}`,
      "dormouse inspect --refusals 20 says why",
    );
  switch (kind) {
    case "anonymous":
      return skipped(
        name,
        `the server takes no client without a token (${text}): set TOKEN_HMAC_SECRET_KEY, or DORMOUSE_TOKEN to a token of your backend`,
      );
    case "token":
      return wrong(name, `the server refuses the token (${text})`, "dormouse token --check TOKEN");
    case "secret":
      return wrong(
        name,
        `the server refuses a token that is signed with the TOKEN_HMAC_SECRET_KEY of here (${text})`,
        "the server's TOKEN_HMAC_SECRET_KEY in the environment, or --token with one of your backend",
      );
  }
}

/** Statuses with which the server itself answers a client. */
const answers: ReadonlySet<number> = new Set([401, 403, 413, 503]);

/** Why a client wasn't taken, in words. */
export function refusedText(refused: Refused): string {
  switch (refused.outcome) {
    case "status":
      return `status ${refused.status}${refused.detail === "" ? "" : ` (${refused.detail})`}`;
    case "refused":
      return `${refused.code} ${refused.reason}`.trim();
    case "failed":
      return refused.cause;
  }
}

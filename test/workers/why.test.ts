import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { call } from "./api-request.ts";
import { hibernate } from "./attachments.ts";
import { configure } from "./configure.ts";
import { newChannel } from "./new-channel.ts";
import { openConfig } from "./open-transports.ts";
import { channelPlace, gatewayPlace } from "./place.ts";
import { publish } from "./api-request.ts";
import { variants, Variant } from "./variant.ts";
import { awake } from "./object-state.ts";

configure(openConfig);

const newUser = () => `user-${crypto.randomUUID()}`;

interface Told {
  readonly summary: string;
  readonly publication: {
    readonly state: string;
    readonly top?: number;
    readonly published_at_ms?: number;
    readonly committed_at_ms?: number;
    readonly by?: object;
  };
  readonly objects: readonly {
    readonly object: string;
    readonly state?: string;
    readonly told?: { readonly outcome?: string; readonly attempts: number };
    readonly taken_at_ms?: number;
    readonly frame?: { readonly subscribers: number; readonly left_out: number };
  }[];
  readonly connections: readonly {
    readonly client: string;
    readonly user: string;
    readonly object: string;
    readonly outcome: string;
    readonly summary: string;
    readonly state: string;
    readonly code?: number;
    readonly events: readonly object[];
  }[];
  readonly incomplete?: true;
}

async function why(request: object): Promise<Told> {
  const { body } = await call("why", request);
  const { result }: { result?: Told } = JSON.parse(body);
  if (result === undefined) throw new Error(body);
  return result;
}

describe.each(variants)("why, on $name", (variant) => {
  const pause = (channel: string): Promise<void> => variant.betweenSteps(channel);

  it("[Y1] [Y3] tells that a publication was sent, and by whom it was published", async () => {
    const channel = newChannel("room");
    const [ada, bob] = [newUser(), newUser()];
    const socket = await variant.subscribe(channel, ada);
    await variant.subscribe(channel, bob);
    await pause(channel);
    const { offset } = await publish(channel, "secret payload");
    await socket.unread();
    const told = await why({ channel, offset, user: ada });
    console.log(JSON.stringify(told, null, 1));
    expect(told.publication).toMatchObject({ state: "remembered", top: 1, by: { key: "API_KEY" } });
    expect(told.connections).toMatchObject([
      { client: socket.client, user: ada, outcome: "sent", state: "connected" },
    ]);
    expect(JSON.stringify(told)).not.toContain("secret payload");
    expect(told.incomplete).toBeUndefined();
  });
});

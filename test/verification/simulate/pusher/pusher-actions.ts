import type { World } from "../world.ts";
import type { PusherClient } from "./pusher-client.ts";

/** @public */
export interface ByPusherClient {
  /** The client's number among those that speak the Pusher protocol. */
  readonly who: number;
}

type OnChannel = ByPusherClient & { readonly channel: string };

/** What clients of the Pusher protocol do, and a deploy. */
export const pusherActions = {
  "pusher connect": byPusher<ByPusherClient>((client) => client.connect()),
  "pusher disconnect": byPusher<ByPusherClient>((client) => client.disconnect()),
  "pusher break": byPusher<ByPusherClient>((client) => client.breakLine()),
  "pusher enter": byPusher<OnChannel>((client, { channel }) => client.enter(channel)),
  "pusher exit": byPusher<OnChannel>((client, { channel }) => client.exit(channel)),
  "pusher say": byPusher<OnChannel>((client, { channel }) => client.say(channel)),
  /** The memory of all objects is lost, and with it all connections. */
  deploy: (
    { channels, gateways, homes }: World,
    { first }: { readonly first: "channels" | "gateways" },
  ) => {
    const [begins, follows] = first === "channels" ? [channels, gateways] : [gateways, channels];
    for (const object of [...begins.values(), ...follows.values(), ...homes.values()])
      object.crash();
  },
};

function byPusher<Given extends ByPusherClient>(
  work: (client: PusherClient, action: Given) => void,
): (world: World, action: Given) => void {
  return ({ pusherClients }, action) => {
    const client = pusherClients[action.who];
    if (client !== undefined) work(client, action);
  };
}

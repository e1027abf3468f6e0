import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { endpoints } from "../../support/sockets/endpoint.ts";
import { RawSocket } from "../../support/sockets/raw-socket.ts";
import { SdkClient } from "../../support/sockets/sdk-client.ts";
import { TestServer } from "../../support/servers/test-server.ts";
import { signToken } from "../../support/test-tokens.ts";

const publicationLength = 200_000;
/** 64 MB in all: several times what the system buffers for a connection whose reader stops. */
const publicationsMax = 320;
/** What the others still get once the reader has been cut. */
const publicationsAfterCut = 20;

const config = {
  client: { queue_max_size: 524_288 },
  channel: {
    without_namespace: {
      allow_subscribe_for_client: true,
      presence: true,
      join_leave: true,
      force_push_join_leave: true,
    },
  },
};

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ config });
});
afterAll(() => server.close());

describe.each(endpoints)("at the endpoint of a $name", (endpoint) => {
  const channel = `slow-${endpoint.name}`;

  it("[F4] a reader that falls behind is cut with 3008, holds up nobody and is held little for", async () => {
    const client = new SdkClient(endpoint.address(server, channel), {
      token: signToken({ sub: "quick" }),
    });
    const quick = await client.subscribed(channel);
    const slow = await RawSocket.connect(
      endpoint.address(server, channel),
      signToken({ sub: "slow" }),
    );
    await slow.ask({ id: 2, subscribe: { channel } });
    slow.stopReading();

    const filler = "x".repeat(publicationLength);
    let receivedAtCut = 0;
    let publications = publicationsMax;
    for (let number = 1; number <= publications; number++) {
      await server.backend.publish(channel, { number, filler });
      await quick.publications.count(number);
      if (receivedAtCut === 0 && quick.leaves.all.length > 0) {
        receivedAtCut = number;
        publications = number + publicationsAfterCut;
      }
    }
    expect(quick.publications.all.map(({ data }) => Number(data.number))).toEqual(
      Array.from({ length: publications }, (_, index) => index + 1),
    );
    expect(client.reconnects).toBe(0);
    expect(quick.leaves.all).toMatchObject([{ info: { user: "slow" } }]);
    expect(await server.backend.presence(channel)).toHaveLength(1);

    slow.readAgain();
    expect(await slow.closed).toEqual({ code: 3008, reason: "slow" });
    // The client now gets the buffered publications, and none that was published after the cut.
    expect(slow.receivedLength).toBeLessThan(receivedAtCut * (publicationLength + 1_000));
    expect(slow.receivedLength).toBeLessThan((publicationsMax / 2) * publicationLength);
    client.close();
  });
});

import { expect, it } from "vitest";
import { HttpStream } from "../support/http-stream.ts";
import { TestServer } from "../support/test-server.ts";
import { signToken } from "../support/test-tokens.ts";

const config = {
  client: { queue_max_size: 65_536, ping_interval: "30s", stale_close_delay: "1s" },
  channel: { without_namespace: { allow_subscribe_for_client: true, presence: true } },
  http_stream: { enabled: true },
};
it("explores", async () => {
  const server = await TestServer.start({ config });
  const direct = await server.runtimeAddress();
  for (const address of [direct, server.address])
    for (const how of ["fin", "rst"]) {
      const channel = `c-${how}-${Math.random()}`;
      const frame = [
        { id: 1, connect: { token: signToken({ sub: "ada" }) } },
        { id: 2, subscribe: { channel } },
      ];
      const body = frame.map((command) => JSON.stringify(command)).join("\n");
      const stream = await HttpStream.post(`${address}/connection/http_stream`, body);
      await stream.until((text) => text.includes(`"id":2`));
      if (how === "fin") stream.hangUp();
      else (stream as any).response.socket.resetAndDestroy();
      const at = Date.now();
      while ((await server.backend.presence(channel)).length > 0 && Date.now() - at < 12000)
        await new Promise((r) => setTimeout(r, 50));
      console.log(address === direct ? "direct" : "proxy", how, Date.now() - at);
    }
  await server.close();
  expect(1).toBe(1);
}, 100_000);

import { describe, expect, it } from "vitest";
import { trailLimits } from "../../../src/features/why/limits.ts";
import { call, publish } from "../support/api-request.ts";
import { newChannel } from "../support/new-channel.ts";
import { awakeVariants } from "../support/variant.ts";

// The objects are made with so many.
Object.assign(trailLimits, { trailFramesMax: 2, trailGatewayFramesMax: 2 });

interface Told {
  readonly objects: readonly { readonly frame?: object }[];
}

/** Whether an object remembers the frame with a publication. */
async function hasFrame(channel: string, offset: number): Promise<boolean> {
  const { body } = await call("why", { channel, offset, user: "ada" });
  const { result }: { result: Told } = JSON.parse(body);
  return result.objects.some(({ frame }) => frame !== undefined);
}

describe.each(awakeVariants)("the frames that were sent on $name", (variant) => {
  it("[B1] [Y1] [Y9] are remembered up to a number", async () => {
    const channel = newChannel("room");
    const socket = await variant.subscribe(channel, "ada");
    for (let offset = 1; offset <= 3; offset++) {
      await publish(channel, offset);
      await socket.lineWith(`"offset":${offset}`);
    }
    expect(await hasFrame(channel, 3)).toBe(true);
    expect(await hasFrame(channel, 2)).toBe(true);
    expect(await hasFrame(channel, 1)).toBe(false);
  });
});

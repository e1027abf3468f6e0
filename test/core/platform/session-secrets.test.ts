import { describe, expect, it } from "vitest";
import { SessionSecrets } from "../../../workers/platform/session-secrets.ts";

const [current, previous, foreign] = ["a key of today", "a key of yesterday", "another's key"];
const node = "channel:news";

describe("[A23] the secret of a session", () => {
  it("proves which object made it, and is new each time", async () => {
    const secrets = new SessionSecrets([current]);
    const [one, other] = [await secrets.make(node), await secrets.make(node)];
    expect(one).toMatch(/^[\da-f]{64}$/);
    expect(one.slice(0, 32)).not.toBe(other.slice(0, 32));
    expect(one.slice(32)).not.toBe(other.slice(32));
    expect(await secrets.made(one, node)).toBe(true);
    expect(await secrets.made(`${one}@${node}`, node)).toBe(true);
  });

  it.each(["channel:new", "channel:news ", "gateway:news", "gateway:na/0", ""])(
    "proves nothing of another node: %s",
    async (named) => {
      const secrets = new SessionSecrets([current]);
      expect(await secrets.made(await secrets.make(node), named)).toBe(false);
    },
  );

  it("counts while its key is rotated out, and no longer", async () => {
    const made = await new SessionSecrets([previous]).make(node);
    expect(await new SessionSecrets([current, previous]).made(made, node)).toBe(true);
    expect(await new SessionSecrets([current, foreign]).made(made, node)).toBe(false);
  });

  it("counts for nothing once a digit of it is another", async () => {
    const secrets = new SessionSecrets([current]);
    const made = await secrets.make(node);
    for (const nth of [0, 31, 32, 63]) {
      const digit = made[nth] === "0" ? "1" : "0";
      const changed = made.slice(0, nth) + digit + made.slice(nth + 1);
      expect(await secrets.made(changed, node)).toBe(false);
    }
    for (const text of ["", made.slice(1), `${made}0`, made.toUpperCase(), `@${made}`])
      expect(await secrets.made(text, node)).toBe(false);
  });
});

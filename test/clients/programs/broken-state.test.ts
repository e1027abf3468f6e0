import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { freePort } from "../../support/servers/listen.ts";
import { ServedServer } from "../../support/servers/served-server.ts";

it("[N13] names the file of a channel whose state is broken, and serves the others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "dormouse-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const state = join(folder, "state");
  const options = ["--port", String(await freePort()), "--state", state];
  const server = await ServedServer.start(options);
  await server.backend.publish("news", 1);
  await server.stop();
  const channels = join(state, "storage", "ChannelObject");
  const file = readdirSync(channels).find((name) => /^[\da-f]{64}\.sqlite$/.test(name)) ?? "";
  writeFileSync(join(channels, file), "no database ".repeat(2_000));

  const again = await ServedServer.start(options);
  onTestFinished(() => again.kill());
  await expect(again.backend.publish("news", 2)).rejects.toThrow("answered with an error");
  await again.backend.publish("other", 1);
  const { printed } = await again.stop();
  const id = file.replace(".sqlite", "");
  expect(printed).toMatch(new RegExp(`^call to a channel failed: .+ object=${id}$`, "m"));
  const [, reference = "none"] =
    /^call to a channel failed: .+ reference=(\w+) /m.exec(printed) ?? [];
  // The runtime's own line has the cause.
  expect(printed).toMatch(new RegExp(`SQLITE_NOTADB[^]+wdErrId = ${reference}`));
}, 60_000);

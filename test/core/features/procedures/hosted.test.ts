import { describe, expect, test } from "vitest";
import { ProcedureDriver } from "../../../../src/features/procedures/procedure-driver.ts";
import { channel, type ChannelDefinition } from "../../../../src/features/procedures/definition.ts";
import { withChannelCode } from "../../../../src/features/procedures/config.ts";
import { ChannelHost } from "../../../../src/object/channel-host.ts";
import { json } from "../../api/channel-config.ts";
import { configured } from "../../../support/configured.ts";
import { ScriptedPlatform } from "../../object/scripted-platform.ts";

/** A platform whose clock goes on while code runs, and whose log is kept. */
class SlowPlatform extends ScriptedPlatform {
  readonly logged: string[] = [];
  usedMs = 0;

  override nowMs(): number {
    return super.nowMs() + this.usedMs;
  }

  override log(level: string, line: string): void {
    this.logged.push(`${level}: ${line}`);
  }
}

/** The object of a channel with code, and what calls it. */
function hosted(code: ChannelDefinition | undefined, platform = new SlowPlatform("room")) {
  const options = { history_size: 10, history_ttl: "1h" };
  const config = configured({ channel: { without_namespace: options } });
  const coded = code === undefined ? config : withChannelCode(config, { "": code }).config;
  const host = new ChannelHost(platform, coded);
  const call = (procedure: string, args?: string): string => {
    const request = { procedure, ...(args && { data: json(args) }), idempotencyKey: "" };
    let answer = "none";
    host.execute([{ method: "call", request }], false, (answers) => {
      const [one] = "answers" in answers ? answers.answers : [];
      if (one !== undefined) answer = "result" in one ? one.result : `error ${one.error.code}`;
    });
    platform.pass(0);
    return answer;
  };
  const ring = (): void => {
    platform.alarmAtMs = Number.POSITIVE_INFINITY;
    host.alarm(() => undefined);
    platform.pass(0);
  };
  return { host, platform, call, ring };
}

const counter = channel({
  procedures: {
    start: (ctx) => ctx.at("t", ctx.nowMs + 60_000, "count"),
    count(ctx) {
      const n = (ctx.get<number>("n") ?? 0) + 1;
      ctx.set("n", n);
      return n;
    },
    forget: (ctx) => ctx.remove("n"),
    get: (ctx) => ctx.get("n"),
  },
});

describe("the object of a channel with code", () => {
  test("[PC7] sets its alarm with the timer, and a later instance calls it once", () => {
    const first = hosted(counter);
    const { platform } = first;
    const startedMs = platform.nowMs();
    // The alarm is set before the answer leaves, in the same event.
    first.call("start");
    expect(platform.alarmAtMs).toBe(startedMs + 60_000);
    platform.pass(60_000);
    const second = hosted(counter, platform);
    second.ring();
    expect(second.call("get")).toBe('{"data":1}');
    second.ring();
    hosted(counter, platform).ring();
    expect(hosted(counter, platform).call("get")).toBe('{"data":1}');
  });

  test("[PC12] logs what the code throws with its stack, and without the arguments", () => {
    const { platform, call, host } = hosted(
      channel({
        procedures: {
          broken(ctx, { secret }: { secret: string }) {
            ctx.set("secret", secret);
            throw new RangeError("out of range");
          },
          rejects: (ctx) => ctx.reject(1_000, "no"),
        },
      }),
    );
    expect(call("broken", '{"secret":"s3cret"}')).toBe("error 100");
    call("rejects");
    expect(platform.logged.length).toBe(1);
    expect(platform.logged[0]).toMatch(
      /^error: channel room: broken .* RangeError: out of range\n/,
    );
    expect(platform.logged[0]).toContain("hosted.test.ts");
    expect(platform.logged[0]).not.toContain("s3cret");
    const driver = host.part(ProcedureDriver);
    expect(driver?.counts.get("broken")).toMatchObject({ threw: 1, done: 0 });
    expect(driver?.counts.get("rejects")).toMatchObject({ rejected: 1 });
    expect(driver?.lastCalls.map(({ name, outcome }) => `${name} ${outcome}`)).toEqual([
      "broken threw",
      "rejects rejected",
    ]);
  });

  test("[PC12] counts and logs a call that holds the thread, and none that is fast", () => {
    const platform = new SlowPlatform("room");
    const takes = (ms: number) => () => {
      platform.usedMs += ms;
    };
    const { call, host } = hosted(
      channel({ procedures: { slow: takes(51), fast: takes(49) } }),
      platform,
    );
    for (const name of ["fast", "slow", "fast"]) call(name);
    expect(platform.logged).toEqual([
      "warn: channel room: slow of the channel's code held the thread for 51 ms",
    ]);
    const { counts } = host.part(ProcedureDriver) ?? {};
    expect([counts?.get("slow")?.slow, counts?.get("fast")?.slow]).toEqual([1, 0]);
  });

  test("[PC13] keeps what code has stored when the code leaves the Worker, until the code has removed it", () => {
    const first = hosted(counter);
    const { platform } = first;
    let deleted = 0;
    platform.deleteAll = (done) => {
      deleted++;
      done();
    };
    first.call("count");
    platform.pass(86_400_000_000);
    hosted(undefined, platform).ring();
    expect(deleted).toBe(0);
    const back = hosted(counter, platform);
    expect(back.call("get")).toBe('{"data":1}');
    back.call("forget");
    platform.pass(86_400_000_000);
    back.ring();
    expect(deleted).toBe(1);
  });
});

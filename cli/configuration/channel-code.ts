/** The files of a project whose channels have code (docs/procedures.md), as `dormouse init --code` lays them out. */
import type { JsonObject } from "../../src/protocol/wire-value.ts";
import { packageName } from "../../src/version.ts";

/** The Worker's main module, which is the one line of wrangler's file by which the code is found. */
export const codeMain = "worker.ts";

/** The files with their texts. */
export const codeFiles: readonly { readonly file: string; readonly text: string }[] = [
  {
    file: codeMain,
    text: `import { useChannels } from "${packageName}/channels";
import { channels } from "./channels.ts";

useChannels(channels);

export * from "${packageName}/worker";
export { default } from "${packageName}/worker";
`,
  },
  {
    file: "channels.ts",
    text: `import { channel } from "${packageName}/channels";

/** The code of the channels, by the names of their namespaces in wrangler.jsonc. */
export const channels = {
  votes: channel({
    procedures: {
      /** Each user has one vote. Whatever a procedure does happens in the channel's order, all of it or nothing. */
      vote(ctx, { option }: { option: string }) {
        const ownKey = \`voter \${ctx.user}\`;
        if (ctx.get(ownKey) !== undefined) return ctx.reject(1000, "you have voted");
        const count = (ctx.get<number>(\`option \${option}\`) ?? 0) + 1;
        ctx.set(ownKey, option);
        ctx.set(\`option \${option}\`, count);
        ctx.publish({ option, count });
        return { count };
      },
    },
  }),
};
`,
  },
  {
    file: "tsconfig.json",
    text: `${JSON.stringify(
      {
        compilerOptions: {
          target: "ES2024",
          lib: ["ES2024"],
          module: "ESNext",
          moduleResolution: "bundler",
          allowImportingTsExtensions: true,
          types: ["@cloudflare/workers-types"],
          strict: true,
          noEmit: true,
        },
        include: ["*.ts"],
      },
      null,
      2,
    )}\n`,
  },
];

/** The namespace of the channels that `channels.ts` has code for. */
export const codeNamespace: JsonObject = {
  name: "votes",
  allow_subscribe_for_client: true,
  allow_call_for_subscriber: true,
  history_size: 100,
  history_ttl: "24h",
  force_recovery: true,
};

/** The packages by which the compiler checks the code. */
export const codePackages = ["@cloudflare/workers-types", "typescript"] as const;

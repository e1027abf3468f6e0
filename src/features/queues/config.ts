import type { ApiKeyRights } from "../../access/api-keys.ts";
import type { OperationRows } from "../../access/operations.ts";
import { queueLimits } from "./limits.ts";
import type { Config, QueueTarget } from "../../config/config.ts";
import { readOption, readOptions, readSection, readText } from "../../config/fields.ts";
import type { Options } from "../../config/option.ts";
import { channelGlob, methodName, readAdmitted } from "../../config/http-api.ts";
import type { Section } from "../../config/section.ts";
import { parseQueueTarget, type Target } from "../../config/targets.ts";

declare module "../../config/config.ts" {
  interface Config {
    /** Those that are enabled. */
    readonly consumers: readonly ConsumerConfig[];
  }
}

/** One of `consumers`: a queue whose messages are carried out (rules M1 to M5). */
export interface ConsumerConfig {
  /** For errors and for the log. */
  readonly name: string;
  /** The name of the queue at Cloudflare. */
  readonly queue: string;
  /** The methods and channels that the messages may name. */
  readonly rights: ApiKeyRights;
  /** The messages are publications, and not commands. */
  readonly publicationDataMode: boolean;
  /** Where refused messages are sent with the reason; absent if there is no such queue. */
  readonly deadLetter?: QueueTarget;
}

/** The queues of a consumer: of its messages, and of refused ones. */
export const queueOptions = {
  /**
   * `"queue:BINDING"`: the queue to which a refused message is sent with the reason, by its binding in
   * `[[queues.producers]]` of `wrangler.toml`.
   */
  dead_letter: { is: "text", read: readDeadLetter },
  /**
   * The name of the queue, which has to be a queue of `[[queues.consumers]]` in `wrangler.toml`, with a
   * `dead_letter_queue`.
   *
   * @default required
   */
  queue: {
    is: "text",
    shape: /^(?:[a-zA-Z0-9](?:[-_a-zA-Z0-9]{0,61}[a-zA-Z0-9])?)?$/,
    meaning: "the name of a queue",
  },
} as const satisfies Options;

export const modeOptions = {
  /** A message is a publication, and not a command. */
  enabled: { is: "boolean" },
} as const satisfies Options;

/** Each of `consumers`. */
export const consumerOptions = {
  /**
   * The name in errors and in the log: 2 to 64 of `A-Z`, `a-z`, `0-9` and `_`.
   *
   * @default required
   */
  name: {
    is: "text",
    // Centrifugo's rule, with a bound.
    shape: /^(?:[a-zA-Z0-9_]{2,64})?$/,
    meaning: "2 to 64 of A-Z, a-z, 0-9 and _",
  },
  /** Its messages are carried out. */
  enabled: { is: "boolean" },
  /**
   * `"cloudflare_queue"`; another type of Centrifugo's is accepted if it isn't enabled.
   *
   * @default required
   * @differs `cloudflare_queue`, Dormouse's own; others are refused unless they are switched off
   */
  type: { is: "text" },
  /** A queue of Cloudflare Queues. */
  cloudflare_queue: {
    is: "section",
    own: true,
    of: {
      /** The form of a message. */
      publication_data_mode: { is: "section", of: modeOptions },
      ...queueOptions,
      /**
       * The methods that a message may have, or `["*"]` for all that change something; not with `publication_data_mode`.
       *
       * @default required
       */
      methods: { is: "texts" },
      /**
       * The channels that it may name: names, or patterns as in `client.allowed_origins`. Methods that concern all channels
       * require `"*"`, as for [keys](configuration.md#keys-of-the-http-api).
       *
       * @default required
       */
      channels: { is: "texts" },
    },
  },
} as const satisfies Options;

/**
 * Reads `consumers`: the queues whose messages are carried out. The array, `name`, `type`, `enabled` and
 * `publication_data_mode` are Centrifugo's; the only type is Dormouse's own.
 *
 * @param root       the section of the whole configuration; receives the problems
 * @param operations of which a consumer may admit those that change something
 * @returns those that are enabled
 */
export function readConsumers(root: Section, operations: OperationRows): readonly ConsumerConfig[] {
  const sections = root.sections("consumers", "name", queueLimits.consumersMax);
  const methods = Object.entries(operations).flatMap(([name, { changes }]) =>
    changes === true ? [name] : [],
  );
  const [names, queues] = [new Map<string, string>(), new Map<string, string>()];
  return sections.flatMap((section) => {
    const name = readOption(section, "name", consumerOptions.name);
    section.demand("name");
    section.demandUnique("name", names);
    const enabled = readOption(section, "enabled", consumerOptions.enabled);
    const type = readOption(section, "type", consumerOptions.type);
    section.demand("type");
    if (type !== queueType) {
      // As for other sections of Centrifugo's, one that is switched off asks for nothing.
      const instead = type === "postgresql" ? "run dormouse outbox" : `write "${queueType}"`;
      if (enabled && type !== "")
        section.wrongValue("type", type, `is not supported by Dormouse: ${instead}`);
      for (const own of [type, queueType]) section.take(own);
      section.refuseOthers({});
      return [];
    }
    const given = section.section(queueType);
    const consumer = readConsumer(given, name, methods, enabled ? queues : new Map());
    section.refuseOthers({});
    return enabled ? [consumer] : [];
  });
}

const queueType = "cloudflare_queue";

/** @param queues the sections of the enabled consumers before, by their queues */
function readConsumer(
  section: Section,
  name: string,
  methods: readonly string[],
  queues: Map<string, string>,
): ConsumerConfig {
  const mode = section.section("publication_data_mode");
  const { enabled: publicationDataMode } = readSection(mode, modeOptions);
  const placed = readOptions(section, queueOptions);
  const consumer = {
    name,
    ...placed,
    rights: {
      methods: publicationDataMode
        ? refuseMethods(section)
        : readAdmitted(section, "methods", methodName(methods)),
      channels: readAdmitted(section, "channels", channelGlob),
    },
    publicationDataMode,
  };
  section.demand("queue");
  section.demandUnique("queue", queues);
  section.refuseOthers({});
  return consumer;
}

function readDeadLetter(section: Section, name: string): QueueTarget | undefined {
  const text = readText(section, name);
  const target = parseQueueTarget(text);
  if (target === undefined && text !== "")
    section.wrongValue(name, text, `is not "queue:" and the name of a binding`);
  return target;
}

/** A publication for one channel or many is a broadcast, and there is no choice. */
function refuseMethods(section: Section): readonly string[] {
  if (section.take("methods") !== undefined)
    section.problem("methods", "can't be set with publication_data_mode: messages only publish");
  return ["broadcast"];
}

/** The queues to which refused messages are sent. */
export function deadLetterTargets({ consumers }: Config): readonly Target[] {
  return consumers.flatMap(({ name, deadLetter }) =>
    deadLetter === undefined
      ? []
      : [{ key: `consumers.${name}.dead_letter`, endpoint: deadLetter }],
  );
}

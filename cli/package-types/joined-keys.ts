import type { TypeSchema } from "./type-text.ts";

/** An option that has an effect only with others of the same section, which the server refuses without them. */
interface JoinedKeys {
  /** Where the section stands in the configuration; a list has `[]` behind its name. */
  readonly sections: readonly string[];
  readonly option: string;
  /** Which of its values need the others. */
  readonly is: ValueSchema;
  /** What the others have to be. */
  readonly needs: Readonly<Record<string, ValueSchema>>;
  /** Where only some sections need them: what these have, if they have it at all. */
  readonly among?: Readonly<Record<string, ValueSchema>>;
}

/** The values of one key. */
interface ValueSchema {
  readonly const?: string | boolean;
  readonly enum?: readonly string[];
  readonly type?: "boolean";
  readonly minimum?: number;
  readonly minLength?: number;
  readonly minItems?: number;
  readonly pattern?: string;
}

/**
 * Adds to the schema of a configuration what JSON Schema can say of several keys: an option that needs others. What joins
 * sections, or compares values, only the server checks.
 */
export function withJoinedKeys(schema: TypeSchema, path = ""): object {
  const { properties, items } = schema;
  const below = path === "" ? "" : `${path}.`;
  const rules = joinedKeys.filter(({ sections }) => sections.includes(path)).map(ruleOf);
  return {
    ...schema,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, one]) => [name, withJoinedKeys(one, below + name)]),
      ),
    }),
    ...(items !== undefined && { items: withJoinedKeys(items, `${path}[]`) }),
    ...(rules.length > 0 && { allOf: rules }),
  };
}

function ruleOf({ option, is, needs, among = {} }: JoinedKeys): object {
  return {
    if: { properties: { ...among, [option]: is }, required: [option] },
    // oxlint-disable-next-line unicorn/no-thenable -- the name is that of JSON Schema
    then: { properties: needs, required: Object.keys(needs) },
  };
}

const isOn = { const: true } as const;
const isNamed = { minLength: 1 } as const;
/** A duration that isn't 0. */
const lasts = { pattern: "[1-9]" } as const;
const some = { minItems: 1 } as const;

const namespaces = ["channel.without_namespace", "channel.namespaces[]"] as const;
const below = (name: string): readonly string[] => namespaces.map((one) => `${one}.${name}`);

const streams = { subscription_type: { enum: ["", "stream"] } } as const;
const history = { history_size: { minimum: 1 }, history_ttl: lasts } as const;

const joinedKeys: readonly JoinedKeys[] = [
  {
    sections: namespaces,
    option: "history_size",
    is: { minimum: 1 },
    needs: { history_ttl: lasts },
    among: streams,
  },
  {
    sections: namespaces,
    option: "history_ttl",
    is: lasts,
    needs: { history_size: { minimum: 1 } },
    among: streams,
  },
  ...["force_positioning", "allow_positioning", "force_recovery", "allow_recovery"].map(
    (option) => ({ sections: namespaces, option, is: isOn, needs: history, among: streams }),
  ),
  {
    sections: namespaces,
    option: "force_push_join_leave",
    is: isOn,
    needs: { join_leave: isOn },
    among: streams,
  },
  {
    sections: namespaces,
    option: "auto_cache_recover",
    is: isOn,
    needs: { force_recovery_mode: { const: "cache" } },
    among: streams,
  },
  {
    sections: namespaces,
    option: "delta_publish",
    is: isOn,
    needs: { allowed_delta_types: some },
    among: streams,
  },
  {
    sections: below("map"),
    option: "mode",
    is: { enum: ["ephemeral", "recoverable"] },
    needs: { key_ttl: lasts },
  },
  {
    sections: below("shared_poll"),
    option: "publish_enabled",
    is: isOn,
    needs: { mode: { const: "versioned" } },
  },
  { sections: below("cursors"), option: "notify_seen", is: isOn, needs: { notify_after: lasts } },
  {
    sections: ["client.subscribe_to_user_personal_channel"],
    option: "single_connection",
    is: isOn,
    needs: { enabled: isOn },
  },
  {
    sections: ["console"],
    option: "access_team_domain",
    is: isNamed,
    needs: { access_audience: isNamed, enabled: { type: "boolean" } },
  },
  {
    sections: ["console"],
    option: "access_audience",
    is: isNamed,
    needs: { access_team_domain: isNamed, enabled: { type: "boolean" } },
  },
  { sections: ["events"], option: "types", is: some, needs: { target: isNamed } },
  { sections: ["events"], option: "target", is: isNamed, needs: { types: some } },
];

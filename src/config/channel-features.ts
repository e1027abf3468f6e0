import type { ChannelConfig, ChannelOptions, ChannelTypes, HookTarget } from "./config.ts";
import type { Section } from "./section.ts";
import type { UnsupportedKeys } from "./unsupported.ts";

/** The features' readers of the section `channel`, in the order of reading, in which problems are reported. */
export interface ChannelFeatures {
  /** @param section is `channel.proxy` */
  readonly readBackends: (section: Section) => ChannelBackends;
  /** They read options that stand beside `subscription_type`, before the options of the type. */
  readonly besideType: readonly OptionsReader[];
  /** The types of channels beside streams. */
  readonly types: readonly ChannelType[];
  /** They read options that channels of all types have. */
  readonly options: readonly OptionsReader[];
  /** Options that are known and not supported. */
  readonly unsupported: UnsupportedKeys;
  /** They report options of namespaces that contradict each other. */
  readonly checks: readonly NamespacesCheck[];
}

/** The backends that options of a namespace may name (docs/protocol.md 7). */
export interface ChannelBackends {
  /**
   * Reads the two options that switch a hook on and name its backend; undefined if the hook is off.
   *
   * @param option what the names of both options begin with, such as `publish_proxy_`
   * @param own    the key in `channel.proxy` of the backend that is named `default`
   */
  switched(section: Section, option: string, own: string): HookTarget | undefined;
  /**
   * Reads the option that names the backend of a hook; undefined after a problem.
   *
   * @param own as for {@link switched}
   */
  named(section: Section, option: string, own: string): HookTarget | undefined;
}

/** @param section of the namespace; receives the problems */
export type OptionsReader = (
  section: Section,
  backends: ChannelBackends,
) => Partial<ChannelOptions>;

/** A type of channels beside streams. */
export interface ChannelType {
  readonly name: Exclude<keyof ChannelTypes, "stream">;
  /** The section with the options of the type, below the section of the namespace. */
  readonly section: string;
  /**
   * Reads the options of the type; those of a map include its stream, which is its history.
   *
   * @param section of the namespace; receives the problems
   * @param beside  the options that were read beside the type; the result has those that fit the type
   */
  readonly read: (
    section: Section,
    beside: Partial<ChannelOptions>,
    backends: ChannelBackends,
  ) => Partial<ChannelOptions>;
  readonly unfit: UnfitOptions;
}

/** Why options of streams have no effect on channels of a type. An option has an effect if its reason is absent. */
export interface UnfitOptions {
  /** The channels of the type, such as `maps`. */
  readonly channels: string;
  /** For the options of a history. */
  readonly history: string;
  /** For the options of positioning and recovery. */
  readonly recovery: string;
  readonly allowedDeltas?: string;
  readonly deltaPublish?: string;
  readonly tags?: string;
}

/** @param sections of the namespaces, by their names; "" for channels without one */
type NamespacesCheck = (sections: ReadonlyMap<string, Section>, channel: ChannelConfig) => void;

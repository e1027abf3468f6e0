import {
  type CheckedPlace,
  type CodedConfiguration,
  codeListener,
} from "../../src/contract/coded-configuration.ts";
import { parseConfig } from "../../src/config/parse-config.ts";
import { leftOutProblems } from "../../src/features/index.ts";

/** Tells whoever checks the Worker's code what it has configured, and what is wrong with that; usually nobody does. */
export function tellChecker(made: Omit<CodedConfiguration, "problems">): void {
  const listener: unknown = Reflect.get(globalThis, codeListener);
  if (typeof listener === "function")
    listener((place: CheckedPlace): CodedConfiguration => ({
      ...made,
      problems: problemsOf(made.config, place),
    }));
}

function problemsOf(config: object, place: CheckedPlace): readonly string[] {
  const parsed = parseConfig(config, place);
  return parsed.outcome === "bad" ? parsed.problems : leftOutProblems(parsed.config);
}

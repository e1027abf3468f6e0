/**
 * A process with a warm vitest, which runs test files of one project with one mutant switched on, as often as it is
 * asked. It is a process of its own so that a mutant that hangs can be ended with it. It speaks with `runner-process.ts`.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestModule, createVitest } from "vitest/node";
import { mergeConfig } from "vitest/config";
import { packageRoot } from "../../../cli/package-root.ts";
import config from "../../../vitest.config.ts";
import type { FileRun, RunOrder, RunResult, RunnerSettings } from "./runner-process.ts";
import { switches } from "./switches.ts";

const settings: RunnerSettings = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const { project: name, mutants, counts } = settings;

const projects = (config.test?.projects ?? []).flatMap((project) => {
  if (typeof project !== "object" || !("test" in project) || project.test?.name !== name) return [];
  const setupFiles = [join(packageRoot, "test/verification/mutate/in-test-files.ts")];
  const patience = settings.patienceMs;
  return [
    mergeConfig(project, {
      plugins: [switches(packageRoot, mutants)],
      test: {
        setupFiles,
        testTimeout: patience,
        hookTimeout: patience,
        expect: { poll: { timeout: patience / 2 } },
      },
    }),
  ];
});

const vitest = await createVitest(
  {
    root: packageRoot,
    config: false,
    watch: false,
    bail: counts ? 0 : 1,
    reporters: [{}],
    maxWorkers: counts ? 2 : 1,
    fileParallelism: counts,
  },
  { test: { projects } },
);

async function run({ mutant, visitsMax, files }: RunOrder): Promise<RunResult> {
  vitest.provide("mutant", mutant);
  vitest.provide("visitsMax", visitsMax);
  const paths =
    files ?? (await vitest.globTestSpecifications()).map((specification) => specification.moduleId);
  const [project] = vitest.projects;
  if (project === undefined) throw new Error(`there is no project ${name}`);
  const specifications = paths.map((file) =>
    project.createSpecification(file.startsWith("/") ? file : join(packageRoot, file)),
  );
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const ran = new Set(specifications.map(({ moduleId }) => moduleId));
  return {
    files: testModules.filter((module) => ran.has(module.moduleId)).map(fileRun),
    errors: unhandledErrors.map((error) => String(error).slice(0, 300)),
  };
}

function fileRun(module: TestModule): FileRun {
  const failures: FileRun["failures"][number][] = [];
  for (const error of module.errors())
    failures.push({ test: "", message: error.message.slice(0, 300) });
  for (const test of module.children.allTests("failed"))
    failures.push({
      test: test.fullName,
      message: (test.result().errors?.[0]?.message ?? "").slice(0, 300),
    });
  const { duration, setupDuration, collectDuration } = module.diagnostic();
  return {
    file: module.relativeModuleId,
    failures,
    visits: module.meta().visits ?? [],
    tookMs: Math.round(duration + setupDuration + collectDuration),
  };
}

process.on("message", (order: RunOrder) => {
  void run(order).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ files: [], errors: [String(error)] }),
  );
});
process.send?.("ready");

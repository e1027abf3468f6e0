/**
 * `npm run environments`: makes the environments with packages of PyPI, Maven Central and Debian that tests need, which
 * takes downloads. Otherwise the first test that needs an environment makes it.
 */
import { hasJava, JavaEnvironment } from "./java-environment.ts";
import { LaravelEnvironment } from "./laravel-environment.ts";
import { Postgres } from "./postgres.ts";
import { Prometheus } from "./prometheus.ts";
import { PythonEnvironment } from "./python-environment.ts";

await Promise.all([
  PythonEnvironment.open(),
  hasJava() ? JavaEnvironment.open() : undefined,
  LaravelEnvironment.open(),
  Prometheus.install(),
  Postgres.install(),
]);

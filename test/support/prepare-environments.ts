/**
 * `npm run environments`: makes the environments with packages of PyPI and Maven Central that tests need, which takes
 * downloads. Otherwise the first test that needs an environment makes it.
 */
import { hasJava, JavaEnvironment } from "./java-environment.ts";
import { PythonEnvironment } from "./python-environment.ts";

await Promise.all([PythonEnvironment.open(), hasJava() ? JavaEnvironment.open() : undefined]);

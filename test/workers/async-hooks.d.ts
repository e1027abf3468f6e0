/** What tests on workerd use of this module: the types of all of Node.js would stand beside those of workerd. */
declare module "node:async_hooks" {
  export class AsyncLocalStorage<Store> {
    run<Result>(store: Store, work: () => Result): Result;
    getStore(): Store | undefined;
  }
}

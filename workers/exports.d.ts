import type { BackendEntrypoint } from "./platform/backend-entrypoint.ts";

/** The part of the Worker's exports that its objects call. Naming all of them would close a cycle. */
declare global {
  namespace Cloudflare {
    interface GlobalProps {
      mainModule: { readonly BackendEntrypoint: typeof BackendEntrypoint };
    }
  }
}

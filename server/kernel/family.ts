import type { Descriptions } from './descriptions.ts';

/**
 * The descriptor of a family: everything the rest of the product must know about it, declared in its own folder. `server/domain/families.ts` lists
 * the descriptors, and every registry (operation table, OpenAPI tags, tRPC root, search, reset, samples) is derived from that list.
 */
export type Family = {
  /** Its folder under `server/domain` and `components`. */
  name: string;
  /** The first part of its operations' ids: `api_keys` in `api_keys.create`. */
  namespace: string;
  /** Its key in the tRPC root; absent for a family without procedures. */
  router?: string;
  /** Its tag in OpenAPI and the API reference; absent for a family without operations in /v1. */
  tag?: string;
  /** The module `descriptions.ts`; a family with a tag has it. */
  descriptions?: Descriptions;
  /** The module `operations.ts`. */
  operations?: object;
  /** The module `person-operations.ts`: what a person does without, or above, a workspace. */
  personOperations?: object;
};

/** Declares a family. Literal types are kept, so that tRPC routers derive from the list with their names. */
export const family = <const F extends Family>(descriptor: F): F => descriptor;

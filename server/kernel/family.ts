import type { Prisma } from '#server/generated/prisma/client.ts';
import type { Capability } from './capabilities.ts';
import type { Ctx } from './context.ts';
import type { Tx } from './database.ts';
import type { Descriptions } from './descriptions.ts';
import type { LeaseHandlers } from './lease.ts';

/**
 * The descriptor of a family: everything the rest of the product must know about it, declared in its own folder. `server/domain/families.ts` lists
 * the descriptors, and every registry (operation table, OpenAPI tags, tRPC root, search, reset of Test, samples) is derived from that list.
 */
export type Family = {
  /** Its folder under `server/domain`. */
  name: string;
  /** The first part of its operations' ids: `api_keys` in `api_keys.create`. */
  namespace?: string;
  /** Its key in the tRPC root; absent for a family without procedures. */
  router?: string;
  /** Its tag in OpenAPI and the API reference; absent for a family without operations in /v1. */
  tag?: string;
  /** The module `descriptions.ts`; a family with a tag has it. */
  descriptions?: Descriptions;
  /** The module `operations.ts`. */
  operations?: object;
  /** What has an id here. */
  resources?: readonly Resource[];
  /** The tables of a workspace that belong to it. */
  tables?: readonly Table[];
  /** Work of the worker process, by name. */
  jobs?: Readonly<Record<string, Job>>;
  /** The export of `leases.ts`: what happens when its rows expire. */
  leases?: LeaseHandlers;
  /** Entries of the command palette: pages where something is begun. */
  actions?: readonly Action[];
  /**
   * What of a person's own in the workspace ends when they leave or are removed: runs in that transaction, once in each space. Keys and other things
   * of the workspace that they created stay. Answers how many of what ended, for the audit entry.
   */
  membershipEnds?: (tx: Tx, ctx: Ctx, userId: string) => Promise<Readonly<Record<string, number>>>;
  /**
   * What acts by itself, or by a secret that its maker has seen, and stays when they leave: shown to whoever removes them, and ended on request. The
   * derived suite (`server/testing/suites/made.ts`) asks for every table with a credential.
   */
  made?: readonly Made[];
  /** Its list pages that keep views, by name: what seeing the page takes, and what sharing a view of it takes. */
  savedViews?: Readonly<Record<string, ViewRights>>;
};

/** Declares a family. Literal types are kept, so that tRPC routers derive from the list with their names. */
export const family = <const F extends Family>(descriptor: F): F => descriptor;

export type Resource = {
  /** Its name in audit entries, search results and promotions: `api_key`. */
  type: string;
  /** Its key among the plan limits, when a plan limits how many there are. Triggers count its rows under the same key. */
  limit?: string;
  /** Search finds it by its document (`search_documents`), and its ID leads to this page below the space. `needs` is what listing it takes. */
  search?: { needs: Capability; page: (id: string) => string };
  /** For one without a document, shown on the page of another: finds it by its ID. */
  inspect?: { needs: Capability; find: (tx: Tx, ctx: Ctx, id: string) => Promise<Inspected | null> };
  /** What can be done to one that the palette finds by name, such as "rotate key build". */
  actions?: readonly ResourceAction[];
};

/** Fragments of SQL speak of the row `r`; in them `$1` is the workspace, `$2` the makers' IDs (uuid[]) and `$3` the time. `record_maker` keeps `made_by` of the table. */
export type Made = {
  /** Its type in audit entries, and the kind that callers name. */
  type: string;
  table: Prisma.ModelName;
  /** What people call one, and several. */
  label: readonly [one: string, several: string];
  name: string;
  /** Whether it still acts. */
  works: string;
  /** Whether one of the makers made it; `r.made_by` says so where this is absent. Written so that indexes answer it: `r.id = any(array(select …))`. */
  by?: string;
  /**
   * What ends it for good, or turns it off: assignments, what its audit entry calls it, and what doing so takes of somebody who leaves. Absent: it is listed
   * only, and somebody decides on its page.
   */
  end?: Ending;
  /** Runs in the transaction after rows ended, with their IDs. */
  ended?: (tx: Tx, ctx: Ctx, ids: readonly string[]) => Promise<unknown>;
  /** For a table of the whole workspace. */
  scope?: 'workspace';
  /** What an audit entry names, where that isn't the row. */
  resource?: { type: string; id: string };
};

export type Ending = { set: string; action: 'revoke' | 'disable'; needs: Capability };
/** Turns off a row that has `enabled`. */
export const disabling = (needs: Capability): Ending => ({ set: 'enabled = false, updated_at = $3', action: 'disable', needs });

/** `path` is below the space; with `scope` below the workspace. */
export type Inspected = { title: string; subtitle: string | null; path: string; scope?: 'workspace' };

/** `verb` matches the beginning of the text; the rest names the resource. */
export type ResourceAction = { verb: RegExp; title: (name: string) => string; needs: Capability };

/** Whoever may change what a page lists may also share a view of it. */
export type ViewRights = { see: Capability; share: Capability };

/** `path` is below the space; with `scope` below the workspace. */
export type Action = { id: string; title: string; path: string; scope?: 'workspace'; needs: Capability };

export type Table = {
  name: Prisma.ModelName;
  /**
   * What a reset of Test does with its rows: `delete`s them, leaves them to the foreign key of a table that is deleted (`cascade`), or lets them
   * `stay`, as everything does that belongs to the whole workspace or follows later.
   */
  reset: 'delete' | 'cascade' | 'stay';
  /** Tables that its rows refer to without a cascade: a reset deletes those after it. */
  before?: readonly Prisma.ModelName[];
  /** Runs before the rows go: overwrites ciphertexts. */
  wipe?: (tx: Tx, ctx: Ctx) => Promise<unknown>;
};

/** One verb of the family; its result is logged. It may be interrupted anywhere and run again. */
export type Job = {
  /** [minute hour day month weekday] in UTC: runs once per deployment, however many workers there are. Absent for a job that `addJob` queues. */
  cron?: string;
  /** Also runs when a worker starts: a fresh installation should not wait for it. */
  atStart?: true;
  run: (run: JobRun) => Promise<unknown>;
};
export type JobRun = { now: Date; payload: Record<string, unknown>; signal: AbortSignal };

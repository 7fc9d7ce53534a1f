import { existsSync } from 'node:fs';
import { KEY_ROLES } from '#server/kernel/capabilities.ts';
import type { Ctx, Space } from '#server/kernel/context.ts';
import type { Family, Resource, Table } from '#server/kernel/family.ts';
import { isSatisfied } from '#server/kernel/needs.ts';
import { type AnyOperation, type AnyPersonOperation, isOfPerson } from '#server/kernel/operation.ts';
import type { Fixture } from '../factories.ts';
import { confirm } from '../step-up.ts';
import { keyActor, memberActor, tokenActor, type Workspace } from '../workspace.ts';

/** A family as the derived suites see it: its rows by plane and caller, their samples, and the tables they write. */
export type Subject = {
  name: string;
  namespace: string;
  resources: readonly Resource[];
  /** Every row of a workspace, those that take no credential included. */
  rows: readonly AnyOperation[];
  /** Rows of the session plane. */
  ofPerson: readonly AnyPersonOperation[];
  /** Every row of a workspace that takes a credential; each has a sample. */
  operations: readonly AnyOperation[];
  v1: readonly AnyOperation[];
  dashboard: readonly AnyOperation[];
  /** Rows that answer with a stored secret: only their gate runs them. */
  reveals: readonly AnyOperation[];
  /** Rows of /v1 that the key role with the most capabilities may call, or a token with every scope where only tokens may. */
  byKey: readonly AnyOperation[];
  tables: readonly string[];
  fixture: Fixture;
  /** A valid input, confirmed if the operation asks a member for that; what it refers to is made first. */
  sample: (op: AnyOperation, ctx: Ctx) => Promise<Record<string, unknown>>;
  /** A caller who may: a key wherever a key may, a token where only tokens may, an owner elsewhere. */
  caller: (op: AnyOperation, w: Workspace, space?: Space) => Ctx;
  /** Whether a key with the most capabilities may call it; where no key may, a token with every scope. */
  keyMay: (op: AnyOperation) => boolean;
};

const widest = KEY_ROLES.at(-1) as (typeof KEY_ROLES)[number];

export async function subjectOf({ name, namespace = '', operations = {}, resources = [], tables = [] }: Family): Promise<Subject> {
  const file = new URL(`../../domain/${name}/samples.fixture.ts`, import.meta.url);
  const fixture: Fixture = existsSync(file) ? await import(file.href) : { samples: {} };
  const table = Object.values(operations).filter(
    (row): row is AnyOperation | AnyPersonOperation => typeof row === 'object' && row !== null && 'http' in row,
  );
  const ofPerson = table.filter(isOfPerson);
  const rows = table.filter((op): op is AnyOperation => !isOfPerson(op));
  const known = rows.filter((op) => op.needs !== 'anonymous' && op.needs !== 'client_token');
  const machine = ({ oauth_only }: AnyOperation) => (oauth_only ? tokenActor() : keyActor(widest.name));
  const keyMay = (op: AnyOperation) =>
    op.kind !== 'reveal' && !fixture.peopleOnly?.includes(op.id) && isSatisfied(op.needs, machine(op).capabilities);
  const v1 = known.filter((op) => !isDashboard(op));
  return {
    name,
    namespace,
    resources,
    rows,
    ofPerson,
    operations: known,
    v1,
    dashboard: known.filter(isDashboard),
    reveals: known.filter(({ kind }) => kind === 'reveal'),
    byKey: v1.filter(keyMay),
    tables: (tables as readonly Table[]).map((table) => table.name),
    fixture,
    sample: async (op, ctx) => {
      const sample = fixture.samples[op.id];
      if (!sample) throw new Error(`${op.id} has no sample: add one to server/domain/${name}/samples.fixture.ts`);
      const input = await sample(ctx);
      await confirm(op, ctx, input);
      return input;
    },
    caller: (op, w, space = 'live') => w.ctx(space, keyMay(op) ? machine(op) : memberActor('owner')),
    keyMay,
  };
}

const isDashboard = ({ http }: AnyOperation) => /^\w+ \/(?:admin|auth)\//.test(http);

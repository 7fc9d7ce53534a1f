import { edgeOf } from '#server/api/edge.ts';
import { operations } from '#server/api/operations.ts';
import { respondJson } from '#server/api/respond.ts';
import { personOf } from '#server/auth/person.ts';
import type { SecretFields } from '#server/domain/explorer/masking.shared.ts';
import type { ListedOperation } from '#server/domain/explorer/schema.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { capabilitiesOf } from '#server/kernel/needs.ts';
import { successesOf } from '#server/kernel/operation.ts';
import { masked } from '#server/kernel/sanitise.ts';
import { secretFields } from '#server/kernel/secret-fields.ts';
import { refused } from './dashboard.ts';
import { appRouter } from './root.ts';

/**
 * What can be done here, in words, by which call, and with which capabilities: the developer pane translates with it, and the page of roles says with
 * it what a role may do. Read from the operation table, once a process.
 */
export function listedOperations(): readonly ListedOperation[] {
  known ??= operations.map((op) => {
    const [method, path] = op.http.split(' ') as [string, string];
    const [status = 200] = successesOf(op);
    return {
      id: op.id,
      procedure: procedureOf(op.id),
      method,
      path,
      summary: op.summary,
      public: !path.startsWith('/admin/'),
      needs: [...capabilitiesOf(op.needs)],
      status,
    };
  });
  return known;
}
let known: readonly ListedOperation[] | undefined;

const rows = Object.entries(appRouter._def.procedures as unknown as Record<string, { _def: { meta?: { operation?: string } } }>);
const procedureOf = (id: string): string | null => rows.find(([, { _def }]) => _def.meta?.operation === id)?.[0] ?? null;

/** What each procedure marks as secret in its input: no page may show it again. Those that mark nothing are left out. */
export function secretFieldNames(): SecretFields {
  marked ??= Object.fromEntries(
    operations.flatMap((op) => {
      const procedure = procedureOf(op.id);
      const names = [...secretFields(op.input)].sort();
      return procedure && names.length > 0 ? [[procedure, names]] : [];
    }),
  );
  return marked;
}
let marked: SecretFields | undefined;

/** An input as the developer pane may have it. */
export const shownInput = (procedure: string, input: unknown): unknown => masked(input, new Set(secretFieldNames()[procedure]));

/** GET /admin/operations, for whoever is signed in. It changes with a release only. */
export async function handleOperations(req: Request): Promise<Response> {
  const requestId = edgeOf(req.headers)?.request_id ?? newId();
  try {
    if (!(await personOf(req.headers))) throw new Refusal('not_authenticated', 'Sign in to continue.');
    return respondJson(200, listedOperations(), requestId, { 'cache-control': 'private, max-age=300' });
  } catch (error) {
    return refused(asRefusal(error), requestId);
  }
}

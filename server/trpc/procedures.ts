import { operations } from '#server/api/operations.ts';
import type { Procedure } from '#server/domain/explorer/schema.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { successesOf } from '#server/kernel/operation.ts';
import { masked } from '#server/kernel/sanitise.ts';
import { secretFields } from '#server/kernel/secret-fields.ts';
import { refused } from './dashboard.ts';
import { appRouter } from './root.ts';
import { personOf } from './session.ts';

/** What every call of the dashboard is in terms of the API: the developer pane translates with it. Read from the operation table, once a process. */
export function procedures(): readonly Procedure[] {
  known ??= Object.entries(appRouter._def.procedures as unknown as Record<string, { _def: { meta?: { operation?: string } } }>).flatMap(
    ([procedure, { _def }]) => {
      const op = operations.find(({ id }) => id === _def.meta?.operation);
      if (!op) return [];
      const [method, path] = op.http.split(' ') as [string, string];
      return {
        procedure,
        operation: op.id,
        method,
        path,
        summary: op.summary,
        public: !path.startsWith('/admin/'),
        status: successesOf(op)[0] ?? 200,
      };
    },
  );
  return known;
}
let known: readonly Procedure[] | undefined;

/** Names of all fields that any form may not show again. */
export function secretFieldNames(): readonly string[] {
  names ??= [...new Set(operations.flatMap((op) => [...secretFields(op.input)]))].sort();
  return names;
}
let names: readonly string[] | undefined;

/** An input as the developer pane may have it. */
export const shownInput = (input: unknown): unknown => masked(input, new Set(secretFieldNames()));

/** GET /admin/explorer/procedures, for whoever is signed in. It changes with a release only. */
export async function handleProcedures(req: Request): Promise<Response> {
  try {
    if (!(await personOf(req.headers))) throw new Refusal('not_authenticated', 'Sign in to continue.');
    return Response.json(procedures(), { headers: { 'cache-control': 'private, max-age=300', 'x-content-type-options': 'nosniff' } });
  } catch (error) {
    return refused(asRefusal(error), newId());
  }
}

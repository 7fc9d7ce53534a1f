import { type Ctx, own } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import type { Group } from './span.ts';
import type { Dimension } from './words.shared.ts';

/** What routes, clients and keys of the groups are called today, by ID; what is gone has no name. */
export async function namesOf(tx: Tx, ctx: Ctx, dimensions: readonly Dimension[], groups: readonly Group[]): Promise<Map<string, string>> {
  const names = new Map<string, string>();
  for (const [i, dimension] of dimensions.entries()) {
    const where = { ...own(ctx), id: { in: groups.flatMap(({ values }) => values[i] ?? []) } };
    const select = { id: true, name: true } as const;
    const rows = await {
      route: () => tx.routes.findMany({ where, select }),
      client: () => tx.clients.findMany({ where, select }),
      api_key: () => tx.api_keys.findMany({ where, select }),
    }[dimension as 'route']?.();
    for (const { id, name } of rows ?? []) names.set(id, name);
  }
  return names;
}

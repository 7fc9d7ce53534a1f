import { type PageRequest, pageWindow } from '#server/kernel/page.ts';
import { inOrder } from './list.ts';

type Direction = 'asc' | 'desc';
/** As Prisma takes it. */
type Sort = Readonly<Record<string, Direction | Readonly<{ sort: Direction; nulls: 'first' | 'last' }>>>;
export type KeyWindow<O> = { orderBy: O[]; skip: number; take: number };

/**
 * The rows of a page of a list whose total is known. Only keys are passed over, from the nearer end of the order, and the rows are read by them: a page in
 * the middle of 100,000 rows reads 50,000 keys and 20 rows, and one behind the last reads nothing. `orderBy` must end in a unique column.
 */
export async function pagedRows<const O extends Sort, R extends { id: string }>(
  request: PageRequest,
  total: number,
  orderBy: readonly O[],
  keys: (window: KeyWindow<O>) => Promise<{ id: string }[]>,
  rows: (ids: string[]) => Promise<R[]>,
): Promise<R[]> {
  const { skip, take, backwards } = pageWindow({ ...request, order: 'asc' }, total);
  if (take === 0) return [];
  const found = await keys({ orderBy: backwards ? orderBy.map(reversed) : [...orderBy], skip, take });
  const ids = found.map(({ id }) => id);
  if (backwards) ids.reverse();
  return inOrder(ids, await rows(ids));
}

const turned = (direction: Direction): Direction => (direction === 'asc' ? 'desc' : 'asc');

function reversed<O extends Sort>(sort: O): O {
  const entries = Object.entries(sort).map(([column, by]) => [
    column,
    typeof by === 'string' ? turned(by) : { sort: turned(by.sort), nulls: by.nulls === 'first' ? 'last' : 'first' },
  ]);
  return Object.fromEntries(entries) as O;
}

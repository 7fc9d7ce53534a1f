import { type Asked, familyBenches, type Place } from './family-bench.ts';

export type ListCase = {
  list: string;
  asks: string;
  plane: 'v1' | 'dashboard';
  path: (place: Place) => string;
};

const lists = (await familyBenches()).flatMap((bench) => Object.entries(bench.lists)).sort(([, a], [, b]) => a.order - b.order);

/** Every list, its first and last page, each sort both ways, each filter and each search it offers. */
export const listCases: readonly ListCase[] = lists.flatMap(([list, { path, plane, sorts, asks }]) => {
  const one = (what: string, asked: Asked): ListCase => ({
    list,
    asks: what,
    plane: plane ?? 'v1',
    path: (place) => {
      const query = new URLSearchParams(typeof asked === 'function' ? asked(place) : asked).toString();
      return (typeof path === 'function' ? path(place) : path) + (query && `?${query}`);
    },
  });
  const last = (asked: Record<string, string>) =>
    one(`${Object.values(asked).join(' ')} last page`.trim(), ({ count }) => ({ ...asked, page: String(Math.floor(count / 20)) }));
  const sorted = (sorts ?? []).flatMap((sort) => ['asc', 'desc'].map((order) => ({ sort, order })));
  return [
    ...(asks && 'newest first' in asks ? [] : [one('first page', {})]),
    ...(sorts ? [last({})] : []),
    ...sorted.map((asked) => one(`${asked.sort} ${asked.order}`, asked)),
    ...sorted.map(last),
    ...Object.entries(asks ?? {}).map(([what, asked]) => one(what, asked)),
  ];
});

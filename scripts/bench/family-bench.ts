import fs from 'node:fs';
import path from 'node:path';

/** What a family adds to `npm run bench lists`: `bench` of `server/domain/<family>/bench.ts`. */
export type FamilyBench = {
  /** By the name in the report. */
  lists: Record<string, BenchList>;
  /** Statements that put `$count` rows into its tables, from `made` or `placed` (`rows.ts`). */
  rows?: readonly string[];
  /** The counts that triggers would keep: each kind in `row_counts` with the rows it counts, such as `api_keys where active`. */
  counts?: Record<string, string>;
};

export type BenchList = {
  /** Position in the report. */
  order: number;
  path: string | ((place: Place) => string);
  plane?: 'dashboard';
  /** Its sort fields. A list that has this, even empty, is paged: its last page is asked for as well. */
  sorts?: readonly string[];
  /** Further queries, by the name in the report. */
  asks?: Record<string, Asked>;
};
export type Asked = Record<string, string> | ((place: Place) => Record<string, string>);

/** Where one workspace's answers lie. */
export type Place = { count: number; routeId: string; secretId: string; clientId: string; collectionId: string; environment: string };

/** Row 50 is in both workspaces, and so is its mark: a search for it finds one row or, in log paths, a handful. */
export const rare = 'c0c7c76d30bd3dcaefc96f40275bdc0a';
/** Three hexadecimal digits: one row of 140 holds them. */
export const some = 'abc';

export const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

/** The benchmark of every family that has one. */
export async function familyBenches(): Promise<FamilyBench[]> {
  const files = fs.globSync('server/domain/*/bench.ts').sort();
  return Promise.all(files.map(async (file) => ((await import(path.resolve(file))) as { bench: FamilyBench }).bench));
}

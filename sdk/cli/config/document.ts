/** What a configuration file says, after it was read and checked. All lists are there; order is that of the files. */

export const KIND_NAMES = ['environments', 'secrets', 'collections', 'clients', 'routes'] as const;
export type KindName = (typeof KIND_NAMES)[number];

/** `routes` -> `route` */
export const oneOf = (kind: KindName): string => kind.slice(0, -1);

/** One resource as a file describes it, or as `export` would. */
export type Entry = { name: string } & Record<string, unknown>;

/** A resource and where it stands, for messages. */
export type Placed = { entry: Entry; place: string };

export type Configuration = {
  space: 'live' | 'test' | undefined;
  resources: Record<KindName, Placed[]>;
  /** Names that must not exist. */
  gone: Record<KindName, { name: string; place: string }[]>;
};

export const emptyConfiguration = (): Configuration => ({
  space: undefined,
  resources: { environments: [], secrets: [], collections: [], clients: [], routes: [] },
  gone: { environments: [], secrets: [], collections: [], clients: [], routes: [] },
});

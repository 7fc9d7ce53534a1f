import { z } from 'zod';

const count = () => z.number().int();

/** One environment of a route, and what decides who gets in. */
const Entrance = z.object({
  environment: z.string(),
  /** Why nobody is served: the route is off, or this environment of it. */
  off: z.enum(['route', 'environment']).nullable(),
  requires_clients: z.boolean(),
  /** Those assigned, by name, at most twenty. `may_call`: switched on, with an address that counts today. */
  clients: z.array(z.object({ id: z.uuid(), name: z.string(), may_call: z.boolean() })),
  client_count: count(),
  client_count_able: count(),
  /** null: all. */
  methods: z.array(z.string()).nullable(),
  /** Empty: any. */
  addresses: z.array(z.string()),
});

/** Who can reach what in a collection, from the rows that decide it. */
export const CollectionAccess = z
  .object({
    people: z.array(
      z.object({
        role: z.enum(['owner', 'admin', 'editor', 'viewer', 'member']),
        count: count(),
        /** At most five. */
        names: z.array(z.string()),
        /** `names`: what things are called, and nothing of how they are set. */
        sees: z.enum(['all', 'names']),
        changes: z.boolean(),
        tests: z.boolean(),
        sets_values: z.boolean(),
      }),
    ),
    /** The active keys of the space by name, at most fifty: a key is tied to no collection. */
    keys: z.array(
      z.object({
        id: z.uuid(),
        name: z.string(),
        key_prefix: z.string(),
        calls: z.boolean(),
        changes: z.boolean(),
        addresses: z.array(z.string()),
      }),
    ),
    key_count: count(),
    key_count_calling: count(),
    /** The workspace lets nobody in without a key, not even a client by its address. */
    key_always_needed: z.boolean(),
    /** By name, at most a hundred. */
    routes: z.array(z.object({ id: z.uuid(), name: z.string(), entrances: z.array(Entrance) })),
    route_count: count(),
  })
  .meta({ id: 'CollectionAccess' });

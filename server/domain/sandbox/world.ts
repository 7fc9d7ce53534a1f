import type { localReferences } from '#server/domain/routes/transfer/service.ts';
import { indexBy, type NameIndex } from './name-index.ts';
import type { PlanBuilder } from './plan-builder.ts';
import type { SecretRow } from './rows.ts';

/** What the templates of a route name. */
export type Reference = ReturnType<typeof localReferences>[number]['reference'];
export type Variable = Extract<Reference, { kind: 'var' }>;
/** A secret with the settings it has in this world. Without a row it is still to be made, so it has no value either. */
export type Held = { name: string; row: SecretRow | undefined; strict: boolean; pins: readonly string[] | null };
type Value = { type: string; value: string | null; secret: Held | undefined; collection_id: string; key: string };

/** One space as templates of its routes find it. What it has not is undefined. */
export type World = {
  /** `home` is the collection of the route, for variables that name none. */
  variable: (home: string | null, reference: Variable) => Value | undefined;
  secret: (reference: Exclude<Reference, Variable>) => Held | undefined;
};

/** The space these rows are of, as it is; with a builder, as it will be once all that is planned on it so far is done. */
export function worldOf(known: NameIndex, builder?: PlanBuilder): World {
  const thereOf = (sourceId: string | null | undefined) => builder?.steps.get(sourceId ?? '')?.there;
  const coming = (id: string) => {
    const step = builder?.there.get(id);
    return step?.action === 'create' || step?.action === 'update' ? step.id : undefined;
  };
  const secret = remembered((id: string): Held | undefined => {
    const row = known.secret.get(id);
    const sourceId = row ? coming(id) : builder?.there.get(id)?.id;
    const is = builder?.source.secrets.get(sourceId ?? '') ?? row;
    return is && { name: is.shortcode_name, row, strict: is.strict_expiry_enforcement, pins: is.allowed_hosts as string[] | null };
  });
  const variables = remembered((id: string) => {
    const theirs = known.collection.get(id)?.variables ?? [];
    const ours = builder?.source.collections.get(coming(id) ?? '')?.variables ?? [];
    return indexBy([...theirs, ...ours.map((one) => ({ ...one, secret_id: thereOf(one.secret_id) ?? one.secret_id }))], (one) => one.key);
  });
  const collectionId = (slug: string) =>
    known.collectionSlugged.get(slug)?.id ?? thereOf(builder?.find.mine.collectionSlugged.get(slug)?.id);
  const secretId = (name: string) => known.secretNamed.get(name)?.id ?? thereOf(builder?.find.mine.secretNamed.get(name)?.id);
  return {
    variable: (home, { collection, key }) => {
      const id = collection === null ? home : collectionId(collection);
      const found = id ? variables(id).get(key) : undefined;
      if (!id || !found) return undefined;
      return {
        type: found.type,
        value: found.value,
        secret: found.secret_id ? secret(found.secret_id) : undefined,
        collection_id: id,
        key,
      };
    },
    secret: (reference) =>
      secret((reference.kind === 'secret' ? secretId(reference.name) : reference.kind === 'secret_id' && reference.id) || ''),
  };
}

/** The work is done once for each key. */
export function remembered<K, V>(work: (key: K) => V): (key: K) => V {
  const done = new Map<K, V>();
  return (key) => {
    if (!done.has(key)) done.set(key, work(key));
    return done.get(key) as V; // set just above
  };
}

import type { Draft as Kept } from '#components/trpc/drafts.ts';
import { localOf, type Start } from './config-conflict.ts';
import type { Config, ConfigField, Draft } from './config-draft.ts';

type Drafts = Readonly<Record<string, Draft>>;
type Starts = Readonly<Record<string, Start>>;
/** Written by hand and sent upstream: what stands there may be a credential, whatever it looks like. */
const SECRET: readonly ConfigField[] = ['inject_headers_json', 'inject_query_json', 'inject_body_json', 'method_configs'];

/** Unsaved changes of a route as a draft keeps them: one field each for `production.timeout_ms`, with what it was when the edit began. */
export function keptOf(drafts: Drafts, starts: Starts): Pick<Kept, 'version' | 'base' | 'values'> & { secret: string[] } {
  const fields = Object.entries(drafts).flatMap(([env, draft]) =>
    Object.entries(draft).map(([field, value]) => {
      const start = starts[env];
      return { name: `${env}.${field}`, value, was: (start && localOf(start)[field as ConfigField]) ?? null };
    }),
  );
  // The oldest: a version that is too old asks about nothing that did not change, one that is too new would overwrite.
  const version = Object.entries(starts)
    .flatMap(([env, { updated_at }]) => (Object.keys(drafts[env] ?? {}).length > 0 ? [updated_at] : []))
    .sort()[0];
  return {
    version,
    base: Object.fromEntries(fields.map(({ name, was }) => [name, was])),
    values: Object.fromEntries(fields.map(({ name, value }) => [name, value])),
    secret: Object.keys(drafts).flatMap((env) => SECRET.map((field) => `${env}.${field}`)),
  };
}

/** The draft again, on top of the environments as they are now; one that is not served any more is left out. */
export function restored(kept: Kept, now: Starts): { drafts: Drafts; starts: Starts } {
  const drafts: Record<string, Draft> = {};
  const starts: Record<string, Start> = {};
  for (const [name, value] of Object.entries(kept.values)) {
    const [env, field] = placeOf(name);
    const start = starts[env] ?? now[env];
    if (!start || !(field in start.config)) continue;
    drafts[env] = { ...drafts[env], [field]: value };
    starts[env] = { ...startedFrom(start, field, kept.base[name] ?? null), updated_at: kept.version ?? start.updated_at };
  }
  return { drafts, starts };
}

/** The same start with one field as it was when the edit began. */
function startedFrom(start: Start, field: ConfigField, was: unknown): Start {
  const others = start.config.overridden_fields.filter((one) => one !== field);
  const inherited = was === null && !start.isBase;
  const overridden_fields = start.isBase ? start.config.overridden_fields : inherited ? others : [...others, field];
  return { ...start, config: { ...start.config, ...(inherited ? {} : { [field]: was }), overridden_fields } as Config };
}

/** `production.timeout_ms` apart again; names of environments have no dot. */
export function placeOf(name: string): [env: string, field: ConfigField] {
  const dot = name.indexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1) as ConfigField];
}

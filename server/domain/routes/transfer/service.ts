import { isDeepStrictEqual } from 'node:util';
import { parseTemplate, printTemplate } from '#server/domain/templates/grammar.ts';
import { mapTexts } from '#server/domain/templates/texts.shared.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { changedFields, checkDraft, columnsOf, type Draft, draftOf, type Local, rebase, settingsOf } from '../config/draft.ts';
import { withTexts } from '../config/texts.ts';
import { CONFIG_FIELDS } from '../effective.ts';

export { actionInWords, type UnusableActions, unusableActions } from '../actions/copying.ts';
export { confirmActions } from '../actions/guarding.ts';
export { settingsOfAction, shown as shownAction } from '../actions/service.ts';
export { configEntry, routeEntry } from '../audit.ts';
export { effectiveReferences, localReferences } from '../config/draft-references.ts';
export { assertMayStore, storeSettings } from '../saving.ts';
export { changedFields, columnsOf, type Draft, draftOf, settingsOf };

/** Routes on their way into the other space (interface rule 64 §5): what they refer to, what becomes of what is there, and how that differs. */

/** The draft with every id of a secret replaced by that of its counterpart; an id without one stays, and resolves nowhere. */
export function withIds(draft: Draft, idOf: (id: string) => string | undefined): Draft {
  const there = (id: string) => idOf(id) ?? id;
  const locals = [...draft.locals].map(([name, local]): [string, Local] => {
    const next: Local = withTexts(local, (text) => withSecretIds(text, there));
    for (const field of ['mtls_certificate_id', 'upstream_ca_certificate_id'] as const) if (local[field]) next[field] = there(local[field]);
    if (local.upstream_auth?.secret_id) next.upstream_auth = { ...local.upstream_auth, secret_id: there(local.upstream_auth.secret_id) };
    return [name, next];
  });
  return { base: draft.base, locals: new Map(locals) };
}

function withSecretIds(text: string, there: (id: string) => string): string {
  const parsed = parseTemplate(text);
  if (!parsed.ok || !parsed.template.some((part) => part.kind === 'secret_id' && there(part.id) !== part.id)) return text;
  return printTemplate(parsed.template.map((part) => (part.kind === 'secret_id' ? { ...part, id: there(part.id) } : part)));
}

/** Part of a configuration with its secrets called by the names that people know, wherever `nameOf` knows one. */
export const withSecretNames = (value: unknown, nameOf: (id: string) => string | undefined): unknown =>
  mapTexts(value, ({ text }) => {
    const parsed = parseTemplate(text);
    if (!parsed.ok || !parsed.template.some((part) => part.kind === 'secret_id')) return text;
    return printTemplate(
      parsed.template.map((part) => {
        const name = part.kind === 'secret_id' ? nameOf(part.id) : undefined;
        return name === undefined ? part : { kind: 'secret' as const, name };
      }),
    );
  });

/**
 * What a route becomes when another one's settings come to it: every environment of theirs, and its own others as they are. An environment that is
 * paused or serving stays so, and with `keepTargets` each keeps the address it calls.
 */
export function merged(before: Draft, coming: Draft, keepTargets: boolean): Draft {
  const after: Draft = { base: before.base, locals: new Map(before.locals) };
  if (!after.locals.has(coming.base)) after.locals.set(coming.base, {});
  if (after.base !== coming.base) rebase(after, coming.base);
  for (const [name, theirs] of coming.locals) {
    const mine = before.locals.has(name) ? after.locals.get(name) : undefined;
    const next: Local = { ...theirs };
    if (mine) keep(next, mine, keepTargets ? ['enabled', 'target_base_url'] : ['enabled']);
    after.locals.set(name, next);
  }
  return after;
}

function keep(next: Local, mine: Local, fields: readonly ('enabled' | 'target_base_url')[]): void {
  for (const field of fields) {
    if (field in mine) Object.assign(next, { [field]: mine[field] });
    else delete next[field];
  }
}

/** Where settings of the draft contradict each other, as a write of them would be refused; undefined where they do not. */
export function contradiction(draft: Draft): string | undefined {
  try {
    checkDraft(draft);
    return undefined;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

export type Difference = { environment: string; field: string; from: unknown; to: unknown; also_in?: string[] };

/**
 * How each environment would behave differently, what it inherits included; an environment that is new differs as a whole. A setting that several have
 * from one place is told once, with the names of the others: a thousand of them may inherit a body of any length.
 */
export function differences(before: Draft, after: Draft): Difference[] {
  const told: Difference[] = [];
  const known = new Map<string, Map<unknown, Map<unknown, Difference | null>>>();
  for (const environment of after.locals.keys()) {
    if (!before.locals.has(environment)) {
      told.push({ environment, field: 'environment', from: null, to: environment });
      continue;
    }
    const [a, b] = [settingsOf(before, environment), settingsOf(after, environment)];
    for (const field of CONFIG_FIELDS) {
      const [from, to] = [a[field], b[field]];
      const ofField = emplaced(known, field, () => new Map<unknown, Map<unknown, Difference | null>>());
      const ofBoth = emplaced(ofField, from, () => new Map<unknown, Difference | null>());
      const one = ofBoth.get(to);
      if (one) {
        one.also_in ??= [];
        one.also_in.push(environment);
      }
      if (one !== undefined) continue;
      const fresh = isDeepStrictEqual(from, to) ? null : { environment, field, from, to };
      ofBoth.set(to, fresh);
      if (fresh) told.push(fresh);
    }
  }
  return told;
}

function emplaced<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** The hosts the route would call, as written: variables in them stay text. */
export const upstreamsOf = (draft: Draft): string[] => [
  ...new Set(
    [...draft.locals.keys()].flatMap((name) => {
      const host = /^[a-z]+:\/\/([^/?#]*)/i.exec(settingsOf(draft, name).target_base_url)?.[1];
      return host ? [host.toLowerCase()] : [];
    }),
  ),
];

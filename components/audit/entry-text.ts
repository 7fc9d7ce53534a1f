import type { z } from 'zod';
import { nounOf, resourceOf } from '#components/shell/resources.ts';
import type { AuditEntryView } from '#server/domain/audit-logs/schema.ts';

export type Entry = z.output<typeof AuditEntryView>;

const VERBS: Record<string, string> = {
  create: 'created',
  update: 'changed',
  delete: 'deleted',
  enable: 'enabled',
  disable: 'disabled',
  revoke: 'revoked',
  rotate: 'rotated',
  restore: 'restored the previous value of',
  execute: 'ran',
  login: 'signed in',
  logout: 'signed out',
  login_failed: 'failed to sign in',
  export: 'exported',
  reset: 'reset',
  promote: 'moved',
  'plaintext.reveal': 'revealed',
  'byok.kms.rotate': 'rotated',
  'request_log.anchor': 'anchored',
  'audit_chain.seal': 'sealed',
  'audit_chain.accept': 'accepted',
};

/** `created` from `create`: an entry reads as a sentence. */
export const verbOf = (action: string): string => VERBS[action] ?? action.replaceAll(/[._]/g, ' ');

/** The name of what an entry is about, if it kept one. */
export const nameOf = (entry: Pick<Entry, 'details'>): string | undefined => {
  const name = entry.details.name;
  return typeof name === 'string' && name !== '' ? name : undefined;
};

/** Who did it, by name. */
export function actorOf(entry: Pick<Entry, 'actor'>): string {
  const { label, type } = entry.actor;
  if (label) return label;
  return type === 'system' ? 'Sallyport' : type ? `Unknown ${nounOf(type)}` : 'Unknown';
}

const VALUES = new Set(['secret', 'wrap_credential']);
const REFLEXIVE = new Set(['login', 'logout', 'login_failed']);

/** "dana@acme.example", "changed", "route", "payments": the parts of the sentence an entry makes. */
export function sentenceOf(entry: Entry): { actor: string; verb: string; thing: string; name: string | undefined } {
  if (entry.resource_type === 'session' && REFLEXIVE.has(entry.action))
    return { actor: actorOf(entry), verb: verbOf(entry.action), thing: '', name: undefined };
  if (entry.resource_type === 'sandbox' && entry.action === 'reset')
    return { actor: actorOf(entry), verb: verbOf(entry.action), thing: '', name: nameOf(entry) };
  // A secret rotates when somebody gives it a new value; people do not call that rotating.
  const verb = VALUES.has(entry.resource_type) && entry.action === 'rotate' ? 'set a new value for' : verbOf(entry.action);
  const tried = entry.resource_type === 'route' && entry.action === 'execute';
  return { actor: actorOf(entry), verb: tried ? 'tested' : verb, thing: nounOf(entry.resource_type), name: nameOf(entry) };
}

/** The same as one line, for titles and screen readers. */
export function lineOf(entry: Entry): string {
  const { actor, verb, thing, name } = sentenceOf(entry);
  return [actor, verb, thing, name].filter(Boolean).join(' ');
}

export type Change = { field: string; from?: unknown; to?: unknown; changed?: boolean };

/** The before and after of an update, as it was recorded. */
export function changesIn(entry: Pick<Entry, 'details'>): Change[] {
  const changes: unknown = entry.details.changes;
  if (!Array.isArray(changes)) return [];
  return changes.filter(
    (change: unknown): change is Change => typeof change === 'object' && change !== null && typeof (change as Change).field === 'string',
  );
}

/** Where the thing an entry is about can be looked at; undefined when it is gone or has no page. */
export function pageOf(entry: Pick<Entry, 'action' | 'resource_type' | 'resource_id'>): string | undefined {
  if (entry.action === 'delete' || !entry.resource_id) return undefined;
  return resourceOf(entry.resource_type)?.path?.(entry.resource_id);
}

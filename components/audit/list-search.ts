import { parseAsString, parseAsStringLiteral } from 'nuqs/server';

/** What the address of the audit page holds; the page reads it on the server, the view in the browser. */
export const auditSearch = {
  tab: parseAsStringLiteral(['timeline', 'chain']).withDefault('timeline'),
  peek: parseAsString,
  q: parseAsString.withDefault(''),
  action: parseAsString,
  resource_type: parseAsString,
  resource_id: parseAsString,
  actor: parseAsString,
  ip: parseAsString,
  store: parseAsStringLiteral(['general', 'critical']),
  from: parseAsString,
  to: parseAsString,
  request_id: parseAsString,
};

export type AuditSearch = {
  q: string;
  action: string | null;
  resource_type: string | null;
  resource_id: string | null;
  actor: string | null;
  ip: string | null;
  store: 'general' | 'critical' | null;
  from: string | null;
  to: string | null;
  request_id: string | null;
};

/** Every entry of all of time. */
export const noFilters = {
  q: '',
  action: null,
  resource_type: null,
  resource_id: null,
  actor: null,
  ip: null,
  store: null,
  from: null,
  to: null,
  request_id: null,
} as const;

/** Whether a text of the address is a time. */
export const isTime = (text: string | null): text is string => text !== null && !Number.isNaN(Date.parse(text));

/** The filters of an address as the endpoints take them; equal on the server and in the browser. */
export const auditFilters = ({ q, action, resource_type, resource_id, actor, ip, store, from, to, request_id }: AuditSearch) => ({
  ...(q ? { q } : {}),
  ...(action ? { action } : {}),
  ...(resource_type ? { resource_type } : {}),
  ...(resource_id ? { resource_id } : {}),
  ...(actor ? { actor_id: actor } : {}),
  ...(ip ? { ip } : {}),
  ...(store ? { store } : {}),
  ...(request_id ? { request_id } : {}),
  ...(isTime(from) ? { from: new Date(from).toISOString() } : {}),
  ...(isTime(to) ? { to: new Date(to).toISOString() } : {}),
});

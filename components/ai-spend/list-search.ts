import { parseAsInteger, parseAsString, parseAsStringLiteral } from 'nuqs/server';

export const SPEND_TABS = ['usage', 'prices', 'alerts'] as const;
export const SPANS = ['7d', '30d', '90d'] as const;
export const SPEND_GROUPS = ['model', 'agent', 'gateway', 'user', 'team', 'token', 'mcp_server', 'day'] as const;

/** What the address of the Spend page holds. A tag is grouped by with `by=tag:<key>`. */
export const spendSearch = {
  tab: parseAsStringLiteral(SPEND_TABS).withDefault('usage'),
  span: parseAsStringLiteral(SPANS).withDefault('30d'),
  by: parseAsString.withDefault('model'),
  page: parseAsInteger.withDefault(1),
  q: parseAsString.withDefault(''),
  own: parseAsStringLiteral(['1']),
  price: parseAsString,
};

export const CALL_STATUSES = ['ok', 'refused', 'upstream_error', 'stream_failed', 'client_closed'] as const;
/** What the address of the call list holds. */
export const callSearch = {
  status: parseAsStringLiteral(CALL_STATUSES),
  agent_id: parseAsString,
  model: parseAsString,
  user: parseAsString,
  code: parseAsString,
};
type Filters = {
  status: (typeof CALL_STATUSES)[number] | null;
  agent_id: string | null;
  model: string | null;
  user: string | null;
  code: string | null;
};
export const callQuery = ({ status, agent_id, model, user, code }: Filters) => ({
  limit: 50,
  ...(status ? { status } : {}),
  ...(agent_id ? { agent_id } : {}),
  ...(model ? { model } : {}),
  ...(user ? { user } : {}),
  ...(code ? { code } : {}),
});

export const limitSearch = { page: parseAsInteger.withDefault(1), open: parseAsString };
export const limitQuery = (page: number) => ({ page, per_page: 25 });

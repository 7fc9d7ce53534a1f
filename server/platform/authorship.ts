// Columns that say who stands behind a row, filled where they are empty: in rows from before them, by `migrate`, and in those that machines of the release before
// write while they still run beside this one, by the worker. Each step reads a batch of its table by ID and writes it in a transaction of its own, so that no lock
// is held for long, and may be repeated. Goes with the release after this one, as do the triggers fill_run_authorities and forget_authority.

/** The last migration that adds such a column. Machines of the release before are replaced within a day of it. */
export const AUTHORSHIP = '20261130032001_inbound_webhooks_authority';
const BATCH = 500;
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

type Query = <R extends object>(text: string, values: unknown[]) => Promise<{ rows: R[] }>;

type Step = {
  table: string;
  column: string;
  /** Speaks of the row `r`; null where nobody is known. */
  value: string;
  /** Rows that have one at all. */
  where?: string;
  /** Machines of the release before also empty it, in rows of any age that they change. */
  changed?: true;
  /** A change that follows from the rows in `filled`. */
  also?: string;
};

const UUID = `'^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'`;
const uuidOf = (text: string) => `case when ${text} ~ ${UUID} then (${text})::uuid end`;

/** Who made it, by the audit log: the entry of its own moment for a secret, the latest that created or rotated it for anything else. */
const audited = (type: string, resource: string, moment?: string, entry = MADE) => `(select maker::uuid from (
    select coalesce(a.details #>> '{actor,user,id}', a.actor_id) as maker, a.seq, a.created_at from audit_logs a
    where a.tenant_id = r.tenant_id and a.resource_type = '${type}' and a.resource_id = ${resource}::text and (${entry})
      ${moment === undefined ? '' : `and a.created_at between ${moment} - interval '1 minute' and ${moment} + interval '1 minute'`}) entries
  where maker ~ ${UUID} order by ${moment === undefined ? '' : `abs(extract(epoch from created_at - ${moment})),`} seq desc limit 1)`;
const MADE = `a.action in ('create', 'rotate') or a.action = 'update' and a.details ->> 'field' = 'secret_key'`;
/** The credential of a client is an entry of the client. */
const OF_CREDENTIAL = `a.details ->> 'credential_id' = r.id::text and a.details ->> 'change' = 'credential.create'`;

const MAKERS: Readonly<Record<string, string>> = {
  api_keys: uuidOf(`r.created_by ->> 'id'`),
  oauth_clients: uuidOf(`r.created_by ->> 'id'`),
  // Before, the maker of the client stood for every secret of it.
  oauth_client_secrets: `coalesce(${audited('oauth_client', 'r.client_row_id', 'r.created_at')}, (select c.made_by from oauth_clients c where c.id = r.client_row_id))`,
  oauth_trust_bindings: audited('trust_binding', 'r.id'),
  scim_credentials: 'r.created_by',
  invitations: 'r.invited_by',
  agents: 'r.created_by',
  agent_keys: audited('agent', 'r.agent_id', 'r.created_at'),
  agent_install_tokens: 'r.created_by',
  acme_accounts: 'r.minted_by_id',
  ai_tokens: 'r.created_by',
  ai_oidc_bindings: 'r.created_by',
  wrap_tokens: uuidOf('r.created_by'),
  webhooks: 'r.created_by',
  webhook_secrets: audited('webhook', 'r.webhook_id', 'r.created_at'),
  inbound_webhooks: audited('inbound_webhook', 'r.id'),
  log_streams: audited('log_stream', 'r.id'),
  alert_channels: audited('alert_channel', 'r.id'),
  workflows: 'r.created_by',
  workflow_hooks: audited('workflow', 'r.workflow_id', 'r.created_at'),
  secret_shares: 'r.created_by',
  dyn_db_leases: uuidOf('r.minted_by_id'),
  client_credentials: `coalesce(${audited('client', 'r.client_id', undefined, OF_CREDENTIAL)}, ${audited('client', 'r.client_id', 'r.created_at')})`,
  sso_connections: audited('sso_connection', 'r.id'),
};

const INBOUND_AUTHORITY = `coalesce((
  select jsonb_build_object('type', a.actor_type, 'id', a.actor_id, 'user_id', a.details #>> '{actor,user,id}',
    'ip', case when a.actor_type <> 'user' then a.ip_address end, 'label', coalesce(a.actor_label, ''))
  from audit_logs a where a.tenant_id = r.tenant_id and a.resource_type = 'inbound_webhook' and a.resource_id = r.id::text
    and a.actor_type in ('user', 'api_key', 'oauth_client') and a.actor_id is not null
    and (a.action in ('create', 'enable', 'rotate') or a.action = 'update' and a.details -> 'changes' @? '$[*] ? (@.field == "forward_route_id" || @.field == "authority")')
  order by a.seq desc limit 1),
  (select jsonb_build_object('type', 'user', 'id', u.id, 'user_id', null, 'ip', null, 'label', coalesce(u.email, '')) from users u where u.id = r.made_by))`;

/** Runs that nobody stands behind yet; a draft has nobody but who started it. */
const RUNS = `update workflow_executions e set authorities = jsonb_build_array(f.authority) from filled f
  where e.workflow_id = f.id and e.authorities = '[]' and e.workflow_version is not null and e.status not in ('completed', 'cancelled') returning e.id`;

const STEPS: readonly Step[] = [
  ...Object.entries(MAKERS).map(([table, value]) => ({ table, column: 'made_by', value })),
  { table: 'workflows', column: 'authority', value: 'workflow_publisher(r)', changed: true, also: RUNS },
  { table: 'inbound_webhooks', column: 'authority', value: INBOUND_AUTHORITY, where: 'r.forward_route_id is not null', changed: true },
];

/** One pass over rows with a higher ID than `since`, and over all that may have been changed. @returns how many rows were filled */
export async function fillAuthorship(query: Query, since: string): Promise<number> {
  let filled = 0;
  for (const step of STEPS) filled += await fillStep(query, step, step.changed ? FIRST_ID : since);
  const { rows } = await query<{ bound: number }>('select bind_policies_to_successors($1::uuid) as bound', [since]);
  return filled + (rows[0]?.bound ?? 0);
}

async function fillStep(query: Query, { table, column, value, where = 'true', also = 'select' }: Step, since: string): Promise<number> {
  const text = `with batch as materialized (
      select b.id, (select (${value}) from ${table} r where r.id = b.id) as value
      from (select r.id from ${table} r where r.id > $1::uuid and r.${column} is null and ${where} order by r.id limit ${BATCH}) b
    ), filled as (
      update ${table} r set ${column} = b.value from batch b where r.id = b.id and b.value is not null and r.${column} is null returning r.id, r.${column}
    ), following as (${also})
    select (select count(*) from batch)::int as seen, (select count(*) from filled)::int as filled, (select id::text from batch order by id desc limit 1) as last`;
  let filled = 0;
  for (let after = since; ; ) {
    const [row] = (await query<{ seen: number; filled: number; last: string | null }>(text, [after])).rows;
    filled += row?.filled ?? 0;
    if (!row?.last || row.seen < BATCH) return filled;
    after = row.last;
  }
}

/** The lowest ID of a row that was made since the upgrade, which began in the last day; null when it began before. */
export async function upgradedSince(query: Query): Promise<string | null> {
  const { rows } = await query<{ ms: string }>(
    `select (extract(epoch from finished_at - interval '1 hour') * 1000)::bigint::text as ms from _prisma_migrations
     where migration_name = $1 and finished_at > now() - interval '1 day'`,
    [AUTHORSHIP],
  );
  const [found] = rows;
  if (!found) return null;
  const hex = BigInt(found.ms).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

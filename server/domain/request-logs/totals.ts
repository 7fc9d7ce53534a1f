// How many calls of a route the log holds, by environment, status code and method. Kept beside the rows, in the transactions that add and remove them.

const KEY = 'tenant_id, sandbox, route_id, environment, status_code, method';

/** Adds `$1`, a JSON list of a key and `n` each, to the totals; a negative n is taken away. In the order of the key, so that two writers never wait in a circle. */
export const ADD_TOTALS = `insert into route_log_totals as t (${KEY}, n)
  select ${KEY}, sum(n) from jsonb_to_recordset($1::jsonb) as d(tenant_id uuid, sandbox boolean, route_id uuid, environment text, status_code int, method text, n bigint)
  group by ${KEY} order by ${KEY}
  on conflict (${KEY}) do update set n = t.n + excluded.n`;

/** Rows of the log by the key they are counted under, `n` negative: what ADD_TOTALS takes when they go. Names that callers made up are counted as none. */
export const takenFrom = (rows: string): string => `select tenant_id, coalesce(sandbox, false) as sandbox, route_id,
    case when error = 'environment_not_configured' then '' else coalesce(environment, '') end as environment,
    coalesce(status_code, 0) as status_code, coalesce(method, '') as method, -count(*) as n
  from ${rows} where route_id is not null group by 1, 2, 3, 4, 5, 6`;

/** Removes what became nothing: its route may be gone as well. `$1` workspace, `$2` space. */
export const FORGET_TOTALS = 'delete from route_log_totals where tenant_id = $1 and sandbox = $2 and n = 0';

import type { RefusalView } from '#components/ui/refusal.ts';
import type { DashboardError } from '#server/trpc/from-operation.ts';

type Refused = Pick<DashboardError, 'code' | 'message' | 'request_id' | 'status'> & { retry_after?: number };

/** The refusal inside a tRPC error, or a sentence for a lost connection. */
export function refusalOf(error: unknown): Refused {
  const data = (error as { data?: DashboardError | null } | null)?.data;
  if (data?.code) return data;
  const early = refusedAtTheDoor(error);
  if (early) return early;
  return {
    code: 'dependency_unavailable',
    message: 'Sallyport didn’t respond. Check your connection and try again.',
    request_id: '',
    status: 503,
  };
}

/** What the gateway refused before the dashboard saw it, such as a body that is too large: its answer is plain JSON, which tRPC does not know. */
function refusedAtTheDoor(error: unknown): Refused | undefined {
  const { response, responseJSON } = (error as { meta?: { response?: Response; responseJSON?: unknown } } | null)?.meta ?? {};
  const status = response?.status ?? 0;
  const { code, message, request_id } = (responseJSON ?? {}) as Partial<Refused>;
  if (status < 400 || status > 499 || typeof code !== 'string' || typeof message !== 'string') return undefined;
  return { code, message, request_id: typeof request_id === 'string' ? request_id : '', status };
}

/** A failed mutation as forms take it. */
export function refusalView(error: unknown): RefusalView {
  const { code, message, request_id } = refusalOf(error);
  return { type: code, message, request_id: request_id || undefined };
}

/**
 * The row as somebody else saved it meanwhile, when that is why an edit was refused. A row that is only shown in its list (a variable)
 * is the member of the list with its id.
 */
export type Stale<Row> = { current: Row; current_updated_at: string };
/** Of a refusal because somebody else saved first, the row as it is now. */
export function staleOf<Row>(error: unknown, id?: unknown): Stale<Row> | undefined {
  const data = (error as { data?: { code?: string; current?: Row | { id?: unknown }[]; current_updated_at?: string } | null } | null)?.data;
  if (data?.code !== 'conflict' || !data.current || !data.current_updated_at) return undefined;
  const current = Array.isArray(data.current) ? data.current.find((row) => row.id === id) : data.current;
  return current && { current: current as Row, current_updated_at: data.current_updated_at };
}

const steps: Partial<Record<DashboardError['code'], string>> = {
  not_authenticated: 'Sign in again. Your draft stays in this tab.',
  csrf_failed: 'Your session changed in another tab. Reload the page.',
  mfa_required: 'Go to Me > Security and add a passkey or an authenticator app.',
  forbidden: 'Ask an Owner or Admin for access.',
  role_denied: 'Ask an Owner or Admin for access.',
  sso_required: 'Sign out, then sign in with single sign-on.',
  domain_txt_not_found: 'Compare the record with what was found, then verify again.',
  not_a_member: 'Choose another workspace in the top-left menu.',
  not_found: 'It may have been deleted or be in the other space. Go back to the list.',
  plan_limit: 'Settings > Usage shows what your plan allows and what you use.',
  plan_feature: 'Compare plans in Settings > Usage.',
  conflict: 'Choose another name, or reload the page to see what changed.',
  in_use: 'Remove what uses it first.',
  connection_disabled: 'Enable the connection on its Overview tab.',
  lease_limit: 'Revoke leases of the connection that nobody needs.',
  database_unreachable: 'Test the connection on its page to see how far it gets.',
  database_error: 'Check the statements of the role and the grants of the admin user.',
  database_timeout: 'Try again. If it stays slow, look at the load of the database.',
  ssh_host_key_mismatch: 'Find out why the jump host has another key. Rotate the SSH key to pin the new one.',
  rate_limit_exceeded: 'Wait a moment and try again.',
  rate_limited: 'Wait a moment and try again.',
  internal_error: 'Try again. If it keeps failing, contact support with the request ID below.',
  dependency_unavailable: 'Try again in a few seconds.',
};

/** What a person can do about a refusal, in one sentence; undefined where the message says it all. */
export const nextStepOf = (code: string): string | undefined => steps[code as DashboardError['code']];

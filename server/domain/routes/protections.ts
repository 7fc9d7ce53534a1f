import { confirmRequiringClients } from '#server/domain/clients/service.ts';
import { confirmLoosening } from '#server/kernel/confirmations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import type { Tx } from '#server/kernel/database.ts';
import { adds, allowsMoreAddresses, type Looser, loosened, raised, turnedOff, weaker } from '#server/kernel/loosening.ts';
import { env } from '#server/platform/env.ts';
import { type Draft, settingsOf } from './config/draft.ts';
import { METHODS } from './config/schema.ts';
import { type EffectiveConfig, forMethod } from './effective.ts';

/** Which changes of a configuration let in more callers, let them do more, or keep more of what they send. */
export const ROUTE_PROTECTIONS: Looser<EffectiveConfig> = {
  enabled: 'harmless',
  // Where credentials go is judged as a move of theirs.
  target_base_url: 'harmless',
  inject_headers_json: 'harmless',
  inject_body_json: 'harmless',
  inject_query_json: 'harmless',
  mtls_certificate_id: 'harmless',
  upstream_ca_certificate_id: 'harmless',
  upstream_protocol: 'harmless',
  upstream_auth: 'harmless',
  require_signature: turnedOff,
  signature_tolerance_sec: raised,
  signature_require_nonce: turnedOff,
  // Only concat signs neither the body's digest nor a nonce.
  signature_scheme: (before, after) => before !== 'concat' && after === 'concat',
  // Limits bound load and cost.
  rate_limit_enabled: 'harmless',
  rate_limit_requests: 'harmless',
  rate_limit_window_sec: 'harmless',
  rate_limit_burst: 'harmless',
  rate_limit_per_client: 'harmless',
  timeout_ms: 'harmless',
  retry_attempts: 'harmless',
  circuit_breaker_failures: 'harmless',
  circuit_breaker_open_sec: 'harmless',
  allowed_methods: (before, after) => before !== null && (after === null || adds(before, after)),
  http_method_restrictions_enabled: turnedOff,
  // Judged method by method below.
  method_configs: 'harmless',
  use_method_specific_configs: 'harmless',
  // Turned on, it admits assigned clients without a key, which is judged by them.
  requires_clients: turnedOff,
  ip_allowlist: allowsMoreAddresses,
  intercept_enabled: 'harmless',
  // Callers choose which secrets their placeholders name.
  body_placeholders: weaker('off', 'same_collection', 'all'),
  forward_client_ip: 'harmless',
  // null is what the workspace says: nothing at first, anything later.
  log_payloads: (before, after) => KEPT.indexOf(after ?? 'all') > KEPT.indexOf(before ?? 'off') && before !== after,
  payload_structure: 'harmless',
};
const KEPT: readonly string[] = ['off', 'errors', 'all'];

/**
 * Asks a person to confirm when a draft loosens any environment; a new one is compared with the base. @throws Refusal mfa_required, step_up_required
 */
export async function confirmDraft(tx: Tx, ctx: Ctx, route_id: string, before: Draft, after: Draft): Promise<void> {
  const environments = [...after.locals.keys()].map((name) => ({ name, was: settingsOf(before, name), is: settingsOf(after, name) }));
  const requiring = environments.filter(({ was, is }) => is.requires_clients && !was.requires_clients).map(({ name }) => name);
  await confirmRequiringClients(tx, ctx, route_id, requiring);
  const names = environments.flatMap(({ was, is }) => loosenedIn(was, is));
  await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, names);
}

/** An environment that goes takes its settings along, and begins again with those of the base. @throws Refusal step_up_required */
export async function confirmRemoval(tx: Tx, ctx: Ctx, draft: Draft, environment: string): Promise<void> {
  await confirmLoosening(tx, ctx, env.PUBLIC_ADMIN_URL, loosenedIn(settingsOf(draft, environment), settingsOf(draft, draft.base)));
}

function loosenedIn(was: EffectiveConfig, is: EffectiveConfig): string[] {
  const unsigned = METHODS.some((method) => forMethod(was, method).require_signature && !forMethod(is, method).require_signature);
  return [...loosened<EffectiveConfig>(was, is, ROUTE_PROTECTIONS), ...(unsigned ? ['method_configs'] : [])];
}

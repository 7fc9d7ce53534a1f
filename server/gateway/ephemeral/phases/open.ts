import { detokenizeAll } from '#server/custody/vaults/detokenize-all.ts';
import type { UsableVault } from '#server/custody/vaults/vaults.ts';
import { denyingPolicy } from '#server/domain/policies/enforcement.ts';
import { hostAllowed } from '#server/domain/secrets/hosts.ts';
import type { Reference } from '#server/domain/templates/grammar.ts';
import type { HotCtx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { log } from '#server/platform/log.ts';
import { callerContext } from '../../core/caller-context.ts';
import { type RefusalCode, type Refused, refused } from '../../core/refusal.ts';
import type { Runtime } from '../../core/runtime.ts';
import { newResolution } from '../../templates/resolution.ts';
import { resolve } from '../../templates/resolve.ts';
import { scrubAnswer } from '../../templates/scrubbed-answer.ts';
import type { EphemeralCall } from '../ephemeral-call.ts';

/** Step 9: vault tokens behind their audit entries, then secrets. Nothing has been sent when this refuses. */
export function open(call: EphemeralCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const tokens = new Set(call.state.scanned?.expressions.flatMap((one) => (one.kind === 'token' ? [one.token] : [])));
  if (tokens.size === 0) return openSecrets(call, runtime);
  return openTokens(call, [...tokens]).then((refusal) => refusal ?? openSecrets(call, runtime));
}

function openSecrets(call: EphemeralCall, runtime: Runtime): Refused | undefined | Promise<Refused | undefined> {
  const { state } = call;
  const references: Reference[] = state.secret ? [{ kind: 'secret_id', id: state.secret.id }] : [];
  for (const one of state.scanned?.expressions ?? []) if (one.kind === 'secret') references.push(one.reference);
  const resolution = newResolution(false);
  state.resolution = resolution;
  if (references.length === 0) return undefined;
  const found = resolve(call, runtime, references, 'configuration', resolution);
  const note = (refusal: Refused | undefined): Refused | undefined => {
    call.secretsUsed = [...resolution.secrets.keys()];
    return refusal ?? scrubAnswer(call, resolution);
  };
  return found instanceof Promise ? found.then(note) : note(found);
}

async function openTokens(call: EphemeralCall, tokens: string[]): Promise<Refused | undefined> {
  const { credential, upstream, state } = call;
  if (!credential.caller?.mayDetokenize)
    return refused('forbidden', "This credential can't open vault tokens: it lacks the capability vault:detokenize.");
  const ctx = callerContext(call);
  const host = upstream?.host ?? '';
  try {
    const values = await detokenizeAll(ctx, tokens, {
      details: { via: 'proxy', upstream_host: host, request_id: call.requestId },
      admit: (vault) => assertMayLeave(ctx, vault, host),
    });
    state.values = new Map(tokens.map((token, i) => [token, values[i] as string]));
    return undefined;
  } catch (error) {
    return refusalOf(call, error);
  }
}

class NotForHost extends Error {
  override readonly name = 'NotForHost';
}

/** @throws Refusal forbidden, NotForHost */
async function assertMayLeave(ctx: HotCtx, vault: UsableVault, host: string): Promise<void> {
  const policy = await denyingPolicy(ctx, 'vault:detokenize', { id: vault.id, name: vault.name });
  if (policy) throw new Refusal('forbidden', `denied by tenant policy ${policy.name}`);
  if (vault.allowed_hosts && !hostAllowed(vault.allowed_hosts, host))
    throw new NotForHost(`Values of the vault ${vault.name} must not be sent to ${host}.`);
}

/** Whatever is wrong with a token is one answer. */
const OF_TOKENS = new Set([
  'not_found',
  'validation_error',
  'token_expired',
  'key_version_destroyed',
  'key_version_disabled',
  'vault_disabled',
]);
const KEPT = new Set<string>(['forbidden', 'plan_limit', 'tenant_sealed', 'audit_unavailable', 'dependency_unavailable']);

function refusalOf(call: EphemeralCall, error: unknown): Refused {
  if (error instanceof NotForHost) return refused('host_not_allowed', error.message);
  if (error instanceof Refusal) {
    if (OF_TOKENS.has(error.type)) return refused('token_not_found', "A vault token of this call doesn't exist, or has ended.");
    if (error.type === 'rate_limit_exceeded') return refused('auth_throttled', error.message, { retryAfter: error.retryAfter ?? 60 });
    if (KEPT.has(error.type)) {
      const { retryAfter } = error;
      return refused(error.type as RefusalCode, error.message, retryAfter === undefined ? {} : { retryAfter });
    }
  }
  log.warn({ err: error, request_id: call.requestId }, 'vault tokens of a call could not be opened');
  return refused('dependency_unavailable', "The call's vault tokens can't be opened now. Try again shortly.");
}

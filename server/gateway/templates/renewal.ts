import { NotConnected, TokenUnavailable } from '#server/custody/connections/connection.ts';
import { usableConnection } from '#server/custody/connections/connections.ts';
import { accessTokenIn } from '#server/custody/connections/token-set.ts';
import type { Reference } from '#server/domain/templates/grammar.ts';
import { log } from '#server/platform/log.ts';
import type { Runtime } from '../core/runtime.ts';
import type { CallConfig, SealedValue, Secret } from '../snapshot/model.ts';
import { renderHeader } from './render.ts';
import type { Resolution } from './resolution.ts';
import type { TemplateCall } from './template-call.ts';

/**
 * What is done when the upstream refuses the access token that its call carries as Authorization (interface rule 30 §10.4): another token, fetched unless one
 * came a moment ago, and the header made anew. Null when Authorization has no such token.
 */
export function renewalOf(
  call: TemplateCall,
  runtime: Runtime,
  config: CallConfig,
  resolution: Resolution,
): (() => Promise<boolean>) | null {
  const rule = config.headers.find((header) => header.lower === 'authorization');
  const template = rule?.template;
  if (!rule || !template || config.upstreamAuth !== null || call.test !== null) return null;
  const used = template.parts.flatMap((part) => (part.kind === 'literal' ? [] : (connectionBehind(call, part) ?? [])));
  const [first] = used;
  if (!first || used.length !== 1) return null;
  const { reference, secret, generation } = first;
  const { tenant, space, sandbox } = call.snapshot;
  return async () => {
    try {
      const ref = { secretId: secret.id, environment: call.state.environmentName };
      const connection = await usableConnection({ tenant_id: tenant.id, sandbox }, ref, { refused: generation });
      if (connection.generation <= generation) return false;
      const value = { id: connection.value_id, sealed: connection.value as SealedValue['sealed'] };
      const token = await runtime.secrets.open(tenant.id, space, value, accessTokenIn);
      resolution.configuration.set(reference, token);
      resolution.secrets.set(secret.name, token);
      if (resolution.useOnly.has(secret.name)) resolution.useOnly.set(secret.name, token);
      const header = renderHeader({ ...rule, template }, resolution.configuration);
      if (typeof header !== 'string') return false;
      call.injectedHeaders = (call.injectedHeaders ?? []).map((text, i, all) =>
        i % 2 === 1 && (all[i - 1] as string).toLowerCase() === 'authorization' ? header : text,
      );
      return true;
    } catch (error) {
      if (!(error instanceof NotConnected || error instanceof TokenUnavailable))
        log.warn({ err: error, request_id: call.requestId, secret_id: secret.id }, 'a refused token could not be renewed');
      return false;
    }
  };
}

function connectionBehind(
  call: TemplateCall,
  reference: Reference,
): { reference: Reference; secret: Secret; generation: number } | undefined {
  const secret = secretOf(call, reference);
  const used = secret && call.connections?.find(({ secretId }) => secretId === secret.id);
  return secret && used && { reference, secret, generation: used.generation };
}

function secretOf({ snapshot, state: { route } }: TemplateCall, reference: Reference): Secret | undefined {
  if (reference.kind === 'secret') return snapshot.secretByName(reference.name);
  if (reference.kind === 'secret_id') return snapshot.secretById(reference.id);
  if (reference.kind !== 'var') return undefined;
  const variable = snapshot.variable(reference.collection, reference.key, route?.collectionId ?? null);
  return variable?.type === 'secret' ? snapshot.secretById(variable.secretId) : undefined;
}

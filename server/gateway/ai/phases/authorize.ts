import { detect } from '#server/ai/shapes/detect.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import { findUser } from '../../governance/users.ts';
import type { AiCall } from '../ai-call.ts';

/** What a token of kind read may do: nothing that can spend. */
const FREE: ReadonlySet<string> = new Set(['models', 'count_tokens']);

/** Step 4: what the token's kind and operations allow, and for whom it speaks. */
export function authorize(call: AiCall): AiRefused | undefined | Promise<AiRefused | undefined> {
  const { state } = call;
  const { principal, gateway } = state;
  if (!principal || !gateway) return aiRefusal('missing_auth', 'The call was not authenticated.');
  const { kind, scope } = principal.token;
  state.detected = detect(call.method, state.rest, {
    'anthropic-version': state.anthropicVersion ? '' : undefined,
    'x-goog-api-key': call.names.includes('x-goog-api-key') ? '' : undefined,
  });
  const operation = 'refuse' in state.detected ? 'other' : state.detected.operation;
  if (kind === 'tool') return aiRefusal('kind_not_allowed', 'A token of kind tool only calls MCP servers.');
  if (kind === 'read' && !FREE.has(operation))
    return aiRefusal('kind_not_allowed', 'A token of kind read only lists models and counts tokens.');
  if (scope.operations && !scope.operations.includes(operation))
    return aiRefusal('operation_not_allowed', `This token doesn't allow the operation ${operation}.`);
  return attribute(call, scope.user, gateway.user_attribution);
}

/** A token that names a user speaks for nobody else. */
function attribute(
  call: AiCall,
  signed: string | undefined,
  rule: 'off' | 'optional' | 'required',
): AiRefused | undefined | Promise<AiRefused | undefined> {
  const { principal, userHeader } = call.state;
  if (signed !== undefined && userHeader !== null && userHeader !== signed)
    return aiRefusal('user_mismatch', 'X-Svc-User names another user than this token.');
  const user = signed ?? (rule === 'off' ? null : userHeader);
  if (user === null)
    return rule === 'required' ? aiRefusal('user_required', 'This gateway asks for X-Svc-User: the user that the call is for.') : undefined;
  if (user.length > 200 || !/^[\x20-\x7e]+$/.test(user))
    return aiRefusal('user_required', 'X-Svc-User must have at most 200 printable ASCII characters.');
  const space = { tenantId: call.snapshot.tenant.id, sandbox: call.snapshot.sandbox };
  return findUser(space, user).then(
    (found) => {
      if (rule === 'required' && !found?.enabled) return aiRefusal('user_required', 'X-Svc-User must name a known user of this workspace.');
      if (found && !found.enabled) return aiRefusal('user_mismatch', 'The user that this call is for is disabled.');
      if (principal) principal.user = { externalId: user, id: found?.id ?? null, team: found?.team ?? null };
      return undefined;
    },
    () => aiRefusal('dependency_unavailable', "The gateway can't look up the user of this call. Try again shortly."),
  );
}

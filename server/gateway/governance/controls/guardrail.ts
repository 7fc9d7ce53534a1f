import { guardrailSignature } from '#server/crypto/guardrail-signature.ts';
import { UpstreamFault } from '#server/platform/http-out/faults.ts';
import { createRequestOut } from '#server/platform/http-out/request-out.ts';
import { log } from '#server/platform/log.ts';
import type { Runtime } from '../../core/runtime.ts';
import type { AiAgentConfig } from '../../snapshot/ai-config.ts';
import type { SpaceSnapshot } from '../../snapshot/slices.ts';

/** What a guardrail is asked about. Texts are those after redaction. */
export type GuardrailQuestion = {
  phase: 'request' | 'response';
  plane: 'ai' | 'mcp';
  requestId: string;
  gateway: { id: string; slug: string } | null;
  user: string | null;
  model: string | null;
  provider: string | null;
  operation: string;
  messages: readonly { role: string; text: string; tool_name?: string | undefined }[];
};

/** `failed`: the guardrail gave no valid verdict; what then happens is the agent's setting. */
export type GuardrailVerdict = { action: 'allow' } | { action: 'block'; message: string | null } | { action: 'failed' };

type Guarded = Pick<
  AiAgentConfig,
  'id' | 'slug' | 'guardrail_webhook_url' | 'guardrail_webhook_secret_id' | 'guardrail_webhook_timeout_ms'
>;

/**
 * Asks an agent's guardrail webhook (interface rule 51 §6.5): by https unless the operator exempts the host, at an address that was checked and is the one connected to,
 * without redirects, and in time.
 * Never throws: anything but a verdict is `failed`.
 */
export async function askGuardrail(
  runtime: Runtime,
  snapshot: SpaceSnapshot,
  agent: Guarded,
  question: GuardrailQuestion,
): Promise<GuardrailVerdict> {
  const url = agent.guardrail_webhook_url;
  if (url === null) return { action: 'failed' };
  const body = guardrailBody(agent, question, snapshot.sandbox);
  try {
    const signature = await signatureOf(runtime, snapshot, agent, body);
    const { status, body: answer } = await createRequestOut(
      runtime.pools,
      runtime.resolver.settings,
    )({
      url,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-svc-request-id': question.requestId,
        ...(signature === null ? {} : { 'x-svc-signature': signature }),
      },
      body,
      timeoutMs: agent.guardrail_webhook_timeout_ms,
      maxBytes: LONGEST_ANSWER,
      tenant: snapshot.tenant.id,
      space: snapshot.space,
    });
    return status >= 200 && status < 300 ? verdictOf(answer) : { action: 'failed' };
  } catch (error) {
    // Only what went wrong: a URL may hold a credential.
    log.warn(
      { request_id: question.requestId, agent_id: agent.id, fault: error instanceof UpstreamFault ? error.type : (error as Error).name },
      'a guardrail gave no verdict',
    );
    return { action: 'failed' };
  }
}

/** At most 256 KiB of text, from the end: the newest messages count most. */
export function guardrailBody(agent: Pick<Guarded, 'id' | 'slug'>, question: GuardrailQuestion, sandbox: boolean): string {
  const { phase, plane, requestId, gateway, user, model, provider, operation } = question;
  const { messages, truncated } = newest(question.messages);
  return JSON.stringify({
    type: 'guardrail.check',
    version: 1,
    phase,
    plane,
    request_id: requestId,
    agent: { id: agent.id, slug: agent.slug },
    gateway,
    user,
    model,
    provider,
    operation,
    messages,
    truncated,
    sandbox,
  });
}

function newest(all: GuardrailQuestion['messages']) {
  const messages: GuardrailQuestion['messages'][number][] = [];
  let room = MOST_TEXT;
  for (const message of [...all].reverse()) {
    // A character takes a byte at least: of a text of megabytes no more is looked at than there is room for.
    const end = Buffer.from(message.text.slice(-room - 1));
    const bytes = end.length;
    if (bytes > room) {
      const rest = end
        .subarray(bytes - room)
        .toString('utf8')
        .replace(/^\ufffd+/, '');
      if (room > 0) messages.unshift({ ...message, text: rest });
      return { messages, truncated: true };
    }
    room -= bytes;
    messages.unshift(message);
  }
  return { messages, truncated: false };
}

function verdictOf(answer: Buffer): GuardrailVerdict {
  let parsed: unknown;
  try {
    parsed = JSON.parse(answer.toString('utf8'));
  } catch {
    return { action: 'failed' };
  }
  const { action, message } = (parsed ?? {}) as { action?: unknown; message?: unknown };
  if (action === 'allow') return { action };
  if (action !== 'block' || (message !== undefined && message !== null && typeof message !== 'string')) return { action: 'failed' };
  return { action, message: message ? message.slice(0, 300) : null };
}

/** Null when no secret is set. @throws when the secret that is set can't be used */
async function signatureOf(runtime: Runtime, snapshot: SpaceSnapshot, agent: Guarded, body: string): Promise<string | null> {
  const id = agent.guardrail_webhook_secret_id;
  if (id === null) return null;
  const secret = snapshot.secretById(id);
  const value = secret?.values.get(DEFAULT_ENVIRONMENT) ?? (secret?.values.size === 1 ? [...secret.values.values()][0] : undefined);
  const endsAt = value?.expiresAt ?? secret?.expiresAt ?? null;
  if (!secret || !value || (secret.strict && endsAt !== null && endsAt <= Date.now()))
    throw new SecretMissing('The secret of the guardrail is missing.');
  const seconds = Math.floor(Date.now() / 1000);
  return runtime.secrets.open(snapshot.tenant.id, snapshot.space, value, (bytes) => guardrailSignature(bytes, body, seconds));
}

class SecretMissing extends Error {
  override readonly name = 'SecretMissing';
}

/** Agents have no environment of their own. */
const DEFAULT_ENVIRONMENT = 'production';
const MOST_TEXT = 256 * 1024;
const LONGEST_ANSWER = 64 * 1024;

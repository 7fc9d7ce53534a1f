import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { bodyOf, parseJsonObject } from '#server/api/input.ts';
import { firstProblem } from '#server/api/parse.ts';
import { perform } from '#server/api/perform.ts';
import { getAgent, mintAgentToken } from '#server/domain/ai-gateways/operations.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { asRefusal, Refusal } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import { callOwnGateway } from '#server/platform/own-gateway.ts';
import { callOf, dashboardContext } from './context.ts';
import { refused } from './dashboard.ts';

const TOKEN_TTL_SECONDS = 60;
/** What the page shows of the answer's head. */
const SHOWN_HEADER = /^(?:content-type|retry-after|x-request-id|x-svc-[a-z-]+)$/;

const PlaygroundCall = z.object({
  agent_id: z.uuid(),
  model: z.string().trim().max(200).optional(),
  messages: z
    .array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string().min(1).max(100_000) }))
    .min(1)
    .max(200),
  max_tokens: z.int().min(1).max(32_000).optional(),
  stream: z.boolean().default(true),
});

/**
 * POST /admin/ai/playground: one call of an agent as the signed-in person, streamed as the plane answers it. The call goes through the plane like any
 * other, by a one-shot token that is minted for it and used up by it; the browser never gets one. Minting takes the same right, and leaves the same
 * audit entry, as by hand.
 */
export async function handlePlayground(req: Request): Promise<Response> {
  let requestId = newId();
  try {
    const context = dashboardContext(callOf(req));
    requestId = context.request_id;
    const ctx = await context.member({ space: true });
    return await playAs(ctx, parseJsonObject(await bodyOf(req)), req.signal);
  } catch (error) {
    return refused(asRefusal(error), requestId);
  }
}

/** The call of a member who is known. `send` brings it to the gateway. @throws Refusal as minting does, validation_error, dependency_unavailable */
export async function playAs(ctx: Ctx, raw: unknown, signal: AbortSignal, send = callOwnGateway): Promise<Response> {
  const parsed = PlaygroundCall.safeParse(raw);
  if (!parsed.success) throw new Refusal('validation_error', firstProblem(parsed.error));
  const { agent_id: id, stream, model, ...call } = parsed.data;
  const { output: agent } = await perform(getAgent, ctx, { id });
  if (!agent.agent_url) throw new Refusal('conflict', 'This workspace has no host yet, so its agents can’t be called.');
  const { output: minted } = await perform(mintAgentToken, ctx, {
    id,
    kind: 'oneshot',
    name: 'Playground',
    expires_in_seconds: TOKEN_TTL_SECONDS,
  });
  const answer = await send({
    url: new URL(`${agent.agent_url}/v1/chat/completions`),
    headers: { authorization: `Bearer ${minted.token}`, 'content-type': 'application/json', 'user-agent': 'Sallyport playground' },
    body: JSON.stringify({
      ...call,
      ...(model ? { model } : agent.default_model ? { model: agent.default_model } : {}),
      ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
    }),
    signal,
  });
  return passedOn(answer);
}

/** The plane's answer, refusals included, for the page to read as any SDK would. */
function passedOn(answer: IncomingMessage): Response {
  const headers = new Headers({ 'cache-control': 'no-store', 'x-accel-buffering': 'no', 'x-content-type-options': 'nosniff' });
  for (const [name, value] of Object.entries(answer.headers))
    if (SHOWN_HEADER.test(name) && typeof value === 'string') headers.set(name, value);
  return new Response(Readable.toWeb(answer) as ReadableStream<Uint8Array>, { status: answer.statusCode ?? 502, headers });
}

import { regionOf } from '#server/ai/providers/region.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import { type AiCall, detectedOf } from '../ai-call.ts';
import { candidatesOf } from '../upstream/candidates.ts';

/** Step 7: whether the answer is streamed, and whether it would leave the region that its data must stay in. */
export function judgeStream(call: AiCall): AiRefused | undefined {
  const { state } = call;
  const { agent, adapter, body } = state;
  const detected = detectedOf(call);
  if (!agent) return aiRefusal('missing_auth', 'The call was not authenticated.');
  if (detected.shape === 'models') return undefined;
  // Lenient providers take `1` and `"true"` for true, and would stream what is judged as a whole.
  if (body !== null && body.stream !== undefined && body.stream !== null && typeof body.stream !== 'boolean')
    return aiRefusal('invalid_request_body', 'The member stream must be true or false.');
  const asked = (body !== null && adapter?.wantsStream(body)) ?? false;
  const byHeader = !asked && !detected.streamInPath && body !== null && acceptsEvents(call) && adapter?.wantsStream(body) === false;
  if (byHeader && detected.operation !== 'count_tokens' && detected.operation !== 'embeddings') adapter?.setStream(body, true);
  state.stream = detected.streamInPath || asked || (byHeader && adapter?.wantsStream(body) === true);
  if (state.stream && !agent.streaming_enabled) return aiRefusal('streaming_disabled', 'Streaming is turned off for this agent.');
  return residency(call, agent.data_residency_region);
}

function acceptsEvents({ req }: AiCall): boolean {
  return req.headers.accept?.includes('text/event-stream') === true;
}

/** Every upstream that could serve the call must be known to lie in the region. */
export function residency(call: AiCall, region: string | null): AiRefused | undefined {
  if (region === null) return undefined;
  for (const { host } of candidatesOf(call)) {
    const found = host === null ? undefined : regionOf(host);
    if (found === undefined)
      return aiRefusal(
        'residency_unverified',
        `The data of this agent must stay in ${region}, and where its provider processes it isn't known.`,
      );
    if (found !== region)
      return aiRefusal('residency_violation', `The data of this agent must stay in ${region}, and its provider processes it in ${found}.`);
  }
  return undefined;
}

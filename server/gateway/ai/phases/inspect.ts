import { NEWEST, VERSIONS } from '#server/kernel/versions.ts';
import { readHeadFields } from '../../core/head-fields.ts';
import { type AiRefused, aiRefusal } from '../../governance/envelope.ts';
import type { AiCall } from '../ai-call.ts';

const MOUNT = '/v1/ai/';

/** Reads the head once, and takes the agent's slug off the path. Refuses nothing: nobody is told anything before it is known who asks. */
export function inspect(call: AiCall): undefined {
  readHeadFields(call, readOwnHeader);
  const { state, names, req } = call;
  for (let i = 0; i < names.length; i++) {
    if (names[i] === 'service-version') state.serviceVersion = joined(state.serviceVersion, req.rawHeaders[i * 2 + 1] as string);
    else if (names[i] === 'anthropic-version') state.anthropicVersion = true;
  }
  const path = call.target.slice(MOUNT.length);
  const end = /[/?]/.exec(path)?.index ?? path.length;
  state.slug = path.slice(0, end);
  state.rest = path.slice(end);
  return undefined;
}

const joined = (before: string | null, value: string): string => (before === null || before === value ? value : `${before}, ${value}`);

function readOwnHeader({ state }: AiCall, name: string, value: string): void {
  switch (name) {
    case 'x-svc-user':
      state.userHeader = value.trim() || null;
      break;
    case 'x-svc-conversation-id':
      state.conversationId = value.trim().slice(0, 200) || null;
      break;
    case 'x-svc-session-id':
      state.sessionId = value.trim().slice(0, 200) || null;
      break;
    case 'x-svc-tags':
      state.tagsHeader = value;
      break;
    case 'x-svc-ai-cache-control':
      state.cacheControl = value.trim().toLowerCase();
      break;
  }
}

/** `Service-Version` is honoured as on the Management API (interface rule 01 §11). */
export function checkVersion({ state }: AiCall): AiRefused | undefined {
  const asked = state.serviceVersion?.trim() ?? NEWEST;
  if (VERSIONS.some(({ version }) => version === asked)) return undefined;
  return aiRefusal('invalid_api_version', `Unknown Service-Version. The newest is ${NEWEST}.`);
}

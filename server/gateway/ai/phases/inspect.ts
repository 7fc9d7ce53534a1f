import { readHeadFields } from '../../core/head-fields.ts';
import type { AiCall } from '../ai-call.ts';

const MOUNT = '/v1/ai/';

/** Reads the head once, and takes the agent's slug off the path. Refuses nothing: nobody is told anything before it is known who asks. */
export function inspect(call: AiCall): undefined {
  readHeadFields(call, readOwnHeader);
  const { state, names } = call;
  state.anthropicVersion = names.includes('anthropic-version');
  const path = call.target.slice(MOUNT.length);
  const end = /[/?]/.exec(path)?.index ?? path.length;
  state.slug = path.slice(0, end);
  state.rest = path.slice(end);
  return undefined;
}

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

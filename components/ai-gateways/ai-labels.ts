import type { z } from 'zod';
import type { State } from '#components/ui/badge.tsx';
import { grouped } from '#components/ui/numbers.ts';
import type { AiAgent } from '#server/domain/ai-gateways/agents.schema.ts';
import type { AiGateway } from '#server/domain/ai-gateways/schema.ts';
import type { AiToken, TokenKind } from '#server/domain/ai-gateways/tokens.schema.ts';

export type Gateway = z.output<typeof AiGateway>;
export type Agent = z.output<typeof AiAgent>;
export type Token = z.output<typeof AiToken>;
export type Status = Gateway['status'];

export const STATUS: Readonly<Record<Status, { state: State; label: string }>> = {
  active: { state: 'ok', label: 'Active' },
  paused: { state: 'warning', label: 'Paused' },
  archived: { state: 'off', label: 'Archived' },
};

export const KINDS: Readonly<Record<TokenKind, { label: string; detail: string }>> = {
  agent: { label: 'Agent', detail: 'Calls models through this agent' },
  read: { label: 'Read', detail: 'Lists models and counts tokens; can’t spend' },
  tool: { label: 'Tool', detail: 'Calls tools of MCP servers, not models' },
  oneshot: { label: 'One-shot', detail: 'One call, then it is used up' },
};

/** What a token can do now. The first that holds wins. */
export function tokenState(token: Token, now: number): { state: State; label: string } {
  if (token.revoked_at) return { state: 'off', label: 'Revoked' };
  if (token.oneshot_consumed_at) return { state: 'off', label: 'Used' };
  if (Date.parse(token.expires_at) <= now) return { state: 'off', label: 'Expired' };
  if (token.step_up_required) return { state: 'blocked', label: 'Held: impossible travel' };
  return { state: 'ok', label: 'Active' };
}

/** US dollars, with the digits that small calls need: $1,204.50, $0.000134. */
export function usd(amount: number): string {
  const [whole = '0', fraction = ''] = amount.toFixed(amount < 1 ? 6 : 2).split('.');
  return `$${grouped(Number(whole))}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`;
}

/** A base for SDKs that want `/v1` in it. */
export const openaiBase = (agent: Pick<Agent, 'agent_url'>): string => `${agent.agent_url}/v1`;

/** A slug from a name: lowercase letters, digits and dashes. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 63);

import type { z } from 'zod';
import { type KeyObject, sessionKey, unwrapFromAgent } from '#server/crypto/agent-keys.ts';
import { DecryptFailed } from '#server/crypto/svt1.ts';
import { acceptCaptured, type Captured } from '#server/domain/migrations/service.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { invalid } from '#server/kernel/errors.ts';
import type { AgentCaller } from './caller.ts';
import type { CaptureReport } from './schema.ts';
import { windowAt } from './windows.ts';

const LATE_MS = 600_000;

/**
 * What the agent saw an application read from its secret store, encrypted under the key of the window (interface rule 35 §6.4).
 * @throws Refusal validation_error, migration_not_found, migration_not_capturing
 */
export async function acceptCaptures(ctx: Ctx, agent: AgentCaller, root: KeyObject, { id, window, items }: z.output<typeof CaptureReport>) {
  // This window, or the one that has just ended.
  const open = [ctx.now, new Date(ctx.now.getTime() - LATE_MS)].map((at) => windowAt(at, agent.own_kms).window);
  if (!open.includes(window)) throw invalid('window', 'is over: encrypt under the key of the current window');
  const key = sessionKey(root, agent.agent_id, window);
  const opened: Captured[] = [];
  try {
    for (const [i, { source_ref, source_version, provider_host, value }] of items.entries()) {
      const aad = `${agent.tenant_id}|${agent.agent_id}|${id}|${source_ref}|${window}`;
      opened.push({ source_ref, source_version, provider_host, value: openedValue(i, () => unwrapFromAgent(key, aad, value)) });
    }
    return await acceptCaptured(ctx, id, opened);
  } finally {
    for (const { value } of opened) value.fill(0);
  }
}

function openedValue(i: number, open: () => Buffer): Buffer {
  try {
    return open();
  } catch (error) {
    if (error instanceof DecryptFailed) throw invalid(`items.${i}.value`, "doesn't open with the key of its window");
    throw error;
  }
}

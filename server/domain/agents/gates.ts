import type { z } from 'zod';
import { read } from '#server/kernel/database.ts';
import { invalid } from '#server/kernel/errors.ts';
import { newId } from '#server/kernel/ids.ts';
import type { AnyOperation, Reveal } from '#server/kernel/operation.ts';
import { decryptsThere } from './modes.shared.ts';
import type { CreateInstallToken, EnrolAgent, RotateAgentSecret, UpdateAgent } from './schema.ts';
import { requireActive } from './service.ts';
import { agentById } from './store.ts';

// Rows 11 to 14 of interface rule 32 §2: each hands out the power to decrypt on a machine that is not ours.

const CLASS_B = { class: 'B', scope: 'plaintext.reveal', policy: 'agent:create_server' } as const;

/** Row 11: only mode server is gated. The agent has no ID yet, so the entry names one that no agent gets. */
export const gateOfEnrolment = (plain: AnyOperation): Reveal<z.output<typeof EnrolAgent>> => ({
  ...CLASS_B,
  subject: async (_ctx, { name, mode }) => ({ resource_type: 'agent', resource_id: newId(), name, details: { mode, new: true } }),
  state: async (_ctx, { mode }) => {
    if (mode === 'proxy') throw invalid('mode', 'create an agent of another mode, then switch it to proxy');
    return {};
  },
  // Proxy is refused whoever asks, so nobody has to confirm anything for that answer.
  unguarded: async (_ctx, { mode }) => (mode === 'server' ? null : plain),
});

/** Row 12: the secret of an agent that decrypts. */
export const gateOfRotation = (plain: AnyOperation): Reveal<z.output<typeof RotateAgentSecret>> => ({
  ...CLASS_B,
  ...ofAgent<z.output<typeof RotateAgentSecret>>(),
  unguarded: async (ctx, { id }) => (decryptsThere((await read(ctx, (tx) => agentById(tx, ctx, id))).mode) ? null : plain),
});

/** Row 13: always. */
export const gateOfInstallToken: Reveal<z.output<typeof CreateInstallToken>> = {
  ...CLASS_B,
  ...ofAgent<z.output<typeof CreateInstallToken>>(),
};

/** Row 14: a change to server or proxy. Leaving them, and everything else, is an ordinary edit. */
export const gateOfEdit = (plain: AnyOperation): Reveal<z.output<typeof UpdateAgent>> => ({
  ...CLASS_B,
  subject: async (ctx, { id, mode }) => {
    const row = await read(ctx, (tx) => agentById(tx, ctx, id));
    return { resource_type: 'agent', resource_id: row.id, name: row.name, details: { mode: { from: row.mode, to: mode } } };
  },
  state: async (ctx, { id }) => {
    requireActive(await read(ctx, (tx) => agentById(tx, ctx, id)));
    return {};
  },
  unguarded: async (ctx, { id, mode }) => {
    if (mode === undefined || !decryptsThere(mode)) return plain;
    return (await read(ctx, (tx) => agentById(tx, ctx, id))).mode === mode ? plain : null;
  },
});

function ofAgent<I extends { id: string }>(): Pick<Reveal<I>, 'subject' | 'state'> {
  return {
    subject: async (ctx, { id }) => {
      const row = await read(ctx, (tx) => agentById(tx, ctx, id));
      return { resource_type: 'agent', resource_id: row.id, name: row.name, details: { mode: row.mode } };
    },
    state: async (ctx, { id }) => {
      requireActive(await read(ctx, (tx) => agentById(tx, ctx, id)));
      return {};
    },
  };
}

import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { ExplorerHistory } from './schema.ts';
import { historyOf } from './service.ts';

/** Sending a call is no operation of its own: it carries out another one, with that one's rights and audit (server/trpc/explorer.ts). */
export const history = operation({
  id: 'explorer.history',
  summary: 'List your API explorer calls',
  http: 'GET /admin/explorer/history',
  kind: 'read',
  needs: 'any',
  refuses: [],
  input: z.object({}),
  output: ExplorerHistory,
  run: (ctx) => historyOf(ctx),
});

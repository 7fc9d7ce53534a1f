import { z } from 'zod';
import { operation } from '#server/kernel/operation.ts';
import { ParityAudit } from './schema.ts';
import { parityAudit } from './service.ts';

export const parity = operation({
  id: 'deployment.parity',
  summary: 'Get the features and versions of this deployment',
  http: 'GET /admin/parity-audit',
  kind: 'read',
  needs: ['account:read'],
  refuses: [],
  input: z.object({}),
  output: ParityAudit,
  run: (ctx, _, families) => parityAudit(ctx, families),
});

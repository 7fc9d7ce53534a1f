import type { PageSamples } from '#components/shell/page-family.ts';
import { LosslessNumber } from '#server/kernel/lossless-json.ts';

export const samples: PageSamples = {
  create: { name: 'page-test', token_format: 'pan', metadata_jsonb: { account: new LosslessNumber('7615917337495251231') } },
  views: ['?tab=tokens', '?tab=key', '?tab=policies', '?tab=settings'],
};

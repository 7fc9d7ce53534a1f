import type { PageSamples } from '#components/shell/page-family.ts';
import { LosslessNumber } from '#server/kernel/lossless-json.ts';

export const samples: PageSamples = {
  details: ['/routes/echo'],
  create: {
    name: 'page-test',
    target_base_url: 'http://echo.sallyport.internal',
    inject_body_json: { account: new LosslessNumber('7615917337495251231') },
  },
  differsInLive: true,
};

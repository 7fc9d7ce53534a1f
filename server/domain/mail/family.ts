import { family } from '#server/kernel/family.ts';
import { db } from '#server/platform/db.ts';
import * as operations from './operations.ts';
import { pruneMails, retryUnsentMails } from './service.ts';

export const mail = family({
  name: 'mail',
  namespace: 'auth',
  operations,
  jobs: {
    retry_unsent_mails: { cron: '* * * * *', run: ({ now }) => retryUnsentMails(db(), now) },
    prune_mails: { cron: '45 2 * * *', run: ({ now }) => pruneMails(db(), now) },
  },
});

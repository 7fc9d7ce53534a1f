import { testFamily } from '#server/testing/suites.ts';
import { webhooks } from './family.ts';

await testFamily(webhooks);

import { testFamily } from '#server/testing/suites.ts';
import { inboundWebhooks } from './family.ts';

await testFamily(inboundWebhooks);

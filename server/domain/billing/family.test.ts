import { testDatabase } from '#server/testing/database.ts';
import { startStripe, stripeSettings } from '#server/testing/stripe-server.ts';
import { testFamily } from '#server/testing/suites.ts';
import { billing } from './family.ts';

await testDatabase(stripeSettings((await startStripe()).url));
await testFamily(billing);

import { testFamily } from '#server/testing/suites.ts';
import { oauthClients } from './family.ts';

await testFamily(oauthClients);

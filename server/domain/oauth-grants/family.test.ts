import { testFamily } from '#server/testing/suites.ts';
import { oauthGrants } from './family.ts';

await testFamily(oauthGrants);

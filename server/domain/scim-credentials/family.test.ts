import { testFamily } from '#server/testing/suites.ts';
import { scimCredentials } from './family.ts';

await testFamily(scimCredentials);

import { testFamily } from '#server/testing/suites.ts';
import { secrets } from './family.ts';

await testFamily(secrets);
